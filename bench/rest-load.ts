/** Load over HTTP/1.1 with keep-alive. */
import autocannon from "autocannon";

/**
 * Returns a load generator for a URL. It opens one connection per key.
 *
 * @throws Error if a response is not a 200
 */
export function restLoad(url: string, keys: readonly string[]) {
  return (seconds: number): Promise<number> => {
    let next = 0;
    const setup = (client: autocannon.Client) => setKey(client, keys[next++ % keys.length]);
    return run(url, seconds, keys.length, setup);
  };
}

/**
 * Returns a load generator for a URL that draws a key at random for each request. `onResponse` is
 * called with the duration of each request, in ms.
 *
 * @throws Error if a response is not a 200
 */
export function randomKeyLoad(
  url: string,
  keys: readonly string[],
  connections: number,
  onResponse: (duration: number) => void,
) {
  const draw = () => keys[Math.floor(Math.random() * keys.length)];
  return (seconds: number): Promise<number> =>
    run(url, seconds, connections, (client) => {
      setKey(client, draw());
      // Emitted before the next request is sent.
      client.on("response", (_status, _bytes, duration) => {
        onResponse(duration);
        setKey(client, draw());
      });
    });
}

function setKey(client: autocannon.Client, key = ""): void {
  client.setHeaders({ "x-api-key": key });
}

async function run(
  url: string,
  seconds: number,
  connections: number,
  setupClient: (client: autocannon.Client) => void,
): Promise<number> {
  const result = await autocannon({
    ...{ url, connections, setupClient },
    duration: seconds,
    // autocannon stops only at the end of a sample.
    sampleInt: Math.min(1_000, seconds * 1_000),
  });
  if (result.non2xx + result.errors > 0) {
    throw new Error(
      `${url}: ${result.non2xx} responses were not 2xx, ${result.errors} requests failed`,
    );
  }
  return result.requests.total;
}
