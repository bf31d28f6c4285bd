/** Load over HTTP/1.1 with keep-alive. */
import autocannon from "autocannon";

/** Connections of one caller, each of which sends its next request when the response to the last one has come. */
export interface Load {
  readonly connections: number;
  /** The API key. */
  readonly key: string;
}

/** Returns a load generator for a URL. It throws an Error if a request fails, or a response is not a 200. */
export function restLoad(url: string, { connections, key }: Load) {
  return async (seconds: number): Promise<number> => {
    const result = await autocannon({
      url,
      connections,
      duration: seconds,
      headers: { "x-api-key": key },
      // autocannon stops only at the end of a sample.
      sampleInt: Math.min(1_000, seconds * 1_000),
    });
    if (result.errors > 0 || result.non2xx > 0) {
      throw new Error(
        `${url}: ${result.non2xx} responses were not 2xx, ${result.errors} requests failed`,
      );
    }
    return result["2xx"];
  };
}
