/** Maps errors of the database driver and of Knex to service errors. */
import { ServiceError } from "../errors.ts";

/** The connection was established, and then lost. */
const LOST = new Set([
  "PROTOCOL_CONNECTION_LOST",
  "PROTOCOL_SEQUENCE_TIMEOUT", // no answer while the session was set up
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

/**
 * Errors after which another session may do better: the server has left its cluster, was demoted,
 * is shutting down, or has lost the session or its prepared statements. By number, because the
 * engines and mysql2 differ in the names.
 */
export const FAILED_SESSION: ReadonlyMap<number, string> = new Map([
  [1047, "Galera: the node is not part of the cluster"],
  [1053, "the server is shutting down"],
  [1105, "Vitess: no healthy tablet"],
  [1205, "a lock was not released in time"],
  [1213, "deadlock; Galera: the transaction lost against another node's"],
  [1243, "the prepared statement is unknown, behind a proxy that changed the server"],
  [1290, "the server is read-only"],
  [1461, "the server has too many prepared statements"],
  [1615, "the prepared statement needs to be prepared again"],
  [1836, "the server is read-only"],
  [1927, "MariaDB: the session was killed"],
  [2003, "a proxy cannot reach a server"],
  [2006, "a proxy lost its server"],
  [2013, "a proxy lost its server during the query"],
  [3032, "MySQL: the server is offline"],
  [3169, "MySQL: the session was killed"],
  [4031, "MySQL: the session was idle for too long"],
  [8028, "TiDB: the schema has changed"],
  [9001, "ProxySQL: no server could be reached in time"],
  [9005, "TiDB: a region of the data is unavailable"],
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

/**
 * Whether the error means that its session must not be used again: the connection was lost, or the
 * session is of no use. A read may be retried on another.
 */
export function isFailedSession(error: unknown): boolean {
  const { errno, sqlState } = (error ?? {}) as Fields;
  return (
    isLostConnection(error) ||
    FAILED_SESSION.has(Number(errno)) ||
    String(sqlState).startsWith("08") // "connection exception"
  );
}

/**
 * Converts an error of a read. The error becomes the cause, which is logged and never returned.
 *
 * @param connectTimeout how long the pool waited for a connection, in ms
 */
export function toServiceError(error: unknown, connectTimeout?: number): ServiceError {
  const { code, errno, name } = (error ?? {}) as Fields;
  if (TIMED_OUT.has(Number(errno))) {
    return new ServiceError("deadlineExceeded", undefined, { cause: error });
  }
  if (name === "KnexTimeoutError") {
    // Knex's own message asks for a mistake in the code. The pool has room: the database is silent.
    const time = connectTimeout === undefined ? "in time" : `within ${connectTimeout} ms`;
    const cause = new Error(`no connection to the database ${time}`);
    return new ServiceError("databaseUnavailable", undefined, { cause });
  }
  if (isFailedSession(error) || UNAVAILABLE.has(String(code))) {
    return new ServiceError("databaseUnavailable", undefined, { cause: error });
  }
  return ServiceError.from(error);
}
