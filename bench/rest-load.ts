/** Load over HTTP/1.1, kept-alive. */
import autocannon from "autocannon";

/**
 * Drives a URL with as many connections as there are keys, each with one of them.
 *
 * @throws Error where an answer was not a 200
 */
export function driveRest(url: string, keys: readonly string[]) {
  return async (seconds: number): Promise<number> => {
    let next = 0;
    const result = await autocannon({
      url,
      duration: seconds,
      connections: keys.length,
      setupClient: (client) => client.setHeaders({ "x-api-key": keys[next++ % keys.length] ?? "" }),
    });
    if (result.non2xx + result.errors > 0) {
      throw new Error(`${url}: ${result.non2xx} answers were not 200, ${result.errors} failed`);
    }
    return result.requests.total;
  };
}
