/** Ports of this machine that nobody listens on. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * The range that `freePort` draws from. It lies below the one that Linux takes
 * a client's own port from: a client that calls a server while it is down, on a
 * port of that range, may be given the very same port and end up talking to itself.
 */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** A port that nobody listens on at this moment. */
export async function freePort(host = "127.0.0.1"): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await isFree(port, host)) return port;
  }
}

/** Whether nobody listens on a port. Throws where the host is not one of this machine's. */
export function isFree(port: number, host = "127.0.0.1"): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const server = createServer();
  server.once("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EADDRINUSE" || error.code === "EACCES") resolve(false);
    else reject(error);
  });
  server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  return promise;
}
