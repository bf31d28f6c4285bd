/** Listening on a port that a variable names. */

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
