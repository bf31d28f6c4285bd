/** Listening on a port that a variable names. */
import { networkInterfaces } from "node:os";

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
      ? "is in use already (EADDRINUSE)"
      : `cannot be listened on (${reason})`;
    throw new Error(`${variable} ${port} ${problem}`, { cause });
  }
}
