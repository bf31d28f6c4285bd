/** An error as fields of a log line, without data: a driver's error holds the statement's values. */

/** The fields that help and are safe to log: type, message, the database's codes, stack. */
export function errorFields(thrown: unknown): Record<string, unknown> {
  if (!(thrown instanceof Error)) return { message: String(thrown) };
  const { code, errno, sqlState, sqlMessage } = thrown as Error & Record<string, unknown>;
  return {
    type: thrown.name,
    message: sqlMessage ?? thrown.message,
    code,
    errno,
    sqlState,
    // The frames only: a stack begins with the message, which may hold the statement.
    stack: thrown.stack?.match(/^ {4}at .*/gm)?.join("\n"),
  };
}
