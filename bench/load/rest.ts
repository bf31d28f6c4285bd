/** Load over HTTP/1.1 with keep-alive. */
import autocannon from "autocannon";
import type { Load } from "./keys.ts";

/** Returns a load generator for a URL. It throws an Error if a request fails, or a response is not a 200. */
export function restLoad(url: string, { connections, drawKey }: Load) {
  return async (seconds: number): Promise<number> => {
    let opened = 0;
    const result = await autocannon({
      url,
      connections,
      duration: seconds,
      // autocannon stops only at the end of a sample.
      sampleInt: Math.min(1_000, seconds * 1_000),
      setupClient(client) {
        const connection = opened++;
        let key = "";
        const setKey = () => {
          const next = drawKey(connection);
          // The request is made anew only if its key is another one.
          if (next !== key) client.setHeaders({ "x-api-key": next });
          key = next;
        };
        setKey();
        // Emitted before the next request is sent.
        client.on("response", setKey);
      },
    });
    if (result.errors > 0 || result.non2xx > 0) {
      throw new Error(
        `${url}: ${result.non2xx} responses were not 2xx, ${result.errors} requests failed`,
      );
    }
    return result["2xx"];
  };
}
