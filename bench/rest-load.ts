/** Load over HTTP/1.1 with keep-alive. */
import autocannon from "autocannon";

/**
 * Returns a load generator for a URL. It opens one connection per key.
 *
 * @throws Error if a response is not a 200
 */
export function restLoad(url: string, keys: readonly string[]) {
  return async (seconds: number): Promise<number> => {
    let next = 0;
    const result = await autocannon({
      url,
      duration: seconds,
      // autocannon stops only at the end of a sample.
      sampleInt: Math.min(1_000, seconds * 1_000),
      connections: keys.length,
      setupClient: (client) => client.setHeaders({ "x-api-key": keys[next++ % keys.length] ?? "" }),
    });
    if (result.non2xx + result.errors > 0) {
      throw new Error(
        `${url}: ${result.non2xx} responses were not 2xx, ${result.errors} requests failed`,
      );
    }
    return result.requests.total;
  };
}
