/** Finds free TCP ports. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * The range of `freePort`. It lies below Linux's ephemeral ports: a client that connects to an
 * ephemeral port with no listener can be assigned that port itself and connect to itself.
 */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** A port without a listener at this moment. */
export async function freePort(host = "127.0.0.1"): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await isFree(port, host)) return port;
  }
}

/** Reports whether a port can be listened on. Throws if `host` is not an address of this machine. */
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
