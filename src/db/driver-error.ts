/** What went wrong in the database, in the words of the catalogue. */
import { ServiceError } from "../errors.ts";

/** Errors that say that a connection which had been made is gone. */
const LOST = new Set([
  "PROTOCOL_CONNECTION_LOST",
  "ECONNRESET",
  "EPIPE",
  "ER_CLIENT_INTERACTION_TIMEOUT",
  "ER_CONNECTION_KILLED",
]);

/** Errors that say that the database cannot be reached, is shutting down, or takes no more. */
const AWAY = new Set([
  ...LOST,
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

/** The server's own cap on a statement: MySQL's and MariaDB's number for it. */
const CAPPED = new Set([3024, 1969]);
/** MariaDB's number for a connection that was killed, which mysql2 has no name for. */
const MARIADB_CONNECTION_KILLED = 1927;

interface DriverError {
  readonly code?: unknown;
  readonly errno?: unknown;
  readonly fatal?: unknown;
  readonly name?: unknown;
  readonly message?: unknown;
}

/** Whether the error says that a pooled connection was dead: nothing was answered on it. */
export function isLostConnection(error: unknown): boolean {
  const { code, errno, message } = (error ?? {}) as DriverError;
  return (
    LOST.has(String(code)) ||
    errno === MARIADB_CONNECTION_KILLED ||
    (typeof message === "string" && message.includes("closed state"))
  );
}

/** Any error of a read as a failure; the error itself becomes the cause, for the log. */
export function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const { code, errno, name } = (error ?? {}) as DriverError;
  if (CAPPED.has(Number(errno))) {
    return new ServiceError("deadlineExceeded", undefined, { cause: error });
  }
  if (isLostConnection(error) || AWAY.has(String(code)) || name === "KnexTimeoutError") {
    return new ServiceError("databaseUnavailable", undefined, { cause: error });
  }
  return new ServiceError("internal", undefined, { cause: error });
}
