/** Maps errors of the database driver and of Knex to service errors. */
import { ServiceError } from "../errors.ts";

/** The connection was established, and then lost. */
const LOST = new Set([
  "PROTOCOL_CONNECTION_LOST",
  "ECONNRESET",
  "EPIPE",
  "ER_CLIENT_INTERACTION_TIMEOUT",
  "ER_CONNECTION_KILLED",
]);

/** The database cannot be reached, is shutting down, or accepts no more connections. */
const UNAVAILABLE = new Set([
  "ECONNREFUSED",
  "ETIMEDOUT",
  "ENOENT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ER_CON_COUNT_ERROR",
  "ER_USER_LIMIT_REACHED",
  "ER_TOO_MANY_USER_CONNECTIONS",
  "ER_SERVER_SHUTDOWN",
  "ER_NORMAL_SHUTDOWN",
  "ER_QUERY_INTERRUPTED",
]);

/** The statement exceeded `max_execution_time` (MySQL) or `max_statement_time` (MariaDB). */
const TIMED_OUT = new Set([3024, 1969]);
/** MariaDB's ER_CONNECTION_KILLED, for which mysql2 has no name. */
const MARIADB_CONNECTION_KILLED = 1927;

/** The fields of an error, which may be of Node, of mysql2, of Knex or of anyone. */
type Fields = Readonly<Record<string, unknown>>;

/** Whether the error means that the connection was lost, so the query may be retried on another. */
export function isLostConnection(error: unknown): boolean {
  const { code, errno, message } = (error ?? {}) as Fields;
  return (
    LOST.has(String(code)) ||
    errno === MARIADB_CONNECTION_KILLED ||
    String(message).includes("closed state")
  );
}

/** Converts an error of a read. The error becomes the cause, which is logged and never returned. */
export function toServiceError(error: unknown): ServiceError {
  const { code, errno, name } = (error ?? {}) as Fields;
  if (TIMED_OUT.has(Number(errno))) {
    return new ServiceError("deadlineExceeded", undefined, { cause: error });
  }
  if (isLostConnection(error) || UNAVAILABLE.has(String(code)) || name === "KnexTimeoutError") {
    return new ServiceError("databaseUnavailable", undefined, { cause: error });
  }
  return ServiceError.from(error);
}
