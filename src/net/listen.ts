/** Listening on a port that a variable names, and the end of it. */
import type { Server } from "node:net";
import { networkInterfaces } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";

/** The address to listen on: where this host has no IPv6, `::` is every address of IPv4. */
export function listenAddress(host: string, interfaces = networkInterfaces()): string {
  const all = Object.values(interfaces).flatMap((addresses) => addresses ?? []);
  return host === "::" && !all.some(({ family }) => family === "IPv6") ? "0.0.0.0" : host;
}

/**
 * Calls `bind` with the port, and resolves to the port that was bound.
 *
 * @throws Error that names the variable and its port if the port cannot be listened on
 */
export async function listen(
  variable: string,
  port: number,
  bind: (port: number) => Promise<number>,
): Promise<number> {
  try {
    return await bind(port);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const problem = reason.includes("EADDRINUSE")
      ? "is in use by another process (EADDRINUSE)"
      : `cannot be listened on (${reason})`;
    throw new Error(`${variable} ${port} ${problem}`, { cause });
  }
}

/** How long a turn of the event loop may take that counts as short, in ms. */
const SHORT_TURN = 0.2;
/** How long to wait for one without a new connection, in ms. */
const MAX_WAIT = 1_000;

/**
 * Stops accepting connections, when none is waiting to be accepted: the kernel would reset it. So it waits
 * for a turn of the event loop that was short and had no new connection.
 */
export async function stopListening(server: Server): Promise<void> {
  let accepted = false;
  const onConnection = () => {
    accepted = true;
  };
  server.on("connection", onConnection);
  const end = performance.now() + MAX_WAIT;
  for (let isQuiet = false, began = 0; !isQuiet && began < end; ) {
    accepted = false;
    began = performance.now();
    await nextTurn();
    isQuiet = !accepted && performance.now() - began < SHORT_TURN;
  }
  server.off("connection", onConnection);
  server.close();
}
