/** What errors of the database driver and of Knex mean. */
import { ServiceError } from "../errors.ts";

/**
 * What an error says:
 *
 * - `lost`: the connection, or the session, is gone.
 * - `node`: the server cannot do the work now; another one may.
 * - `busy`: the same may succeed if it is repeated, in another session.
 * - `full`: the server, or the account, has as many connections as it may have.
 * - `refused`: the server, or a server behind it, cannot be reached.
 * - `ended`: the server has ended the statement at its time limit.
 * - `interrupted`: somebody has ended it.
 */
export type Failure = "lost" | "node" | "busy" | "full" | "refused" | "ended" | "interrupted";

/**
 * Errors by number, because the engines and mysql2 differ in the names; those of Node and of mysql2 itself
 * by code.
 */
export const FAILURES: ReadonlyMap<number | string, Failure> = new Map<number | string, Failure>([
  ["PROTOCOL_CONNECTION_LOST", "lost"],
  ["PROTOCOL_SEQUENCE_TIMEOUT", "lost"], // no answer while the session was set up
  ["ECONNRESET", "lost"],
  ["EPIPE", "lost"],
  [1243, "lost"], // the prepared statement is unknown, behind a proxy that changed the server
  [1927, "lost"], // MariaDB: the session was killed
  [2006, "lost"], // a proxy lost its server
  [2013, "lost"], // the same, during the query
  [3169, "lost"], // MySQL: the session was killed
  [4031, "lost"], // MySQL: the session was idle for too long

  [1047, "node"], // Galera: the node is not part of the cluster
  [1053, "node"], // it is shutting down
  [1077, "node"],
  [1079, "node"],
  [1290, "node"], // it is read-only
  [1836, "node"],
  [2003, "node"], // a proxy cannot reach a server
  [3032, "node"], // MySQL: it is offline
  [3100, "node"], // Group Replication: the group does not accept the transaction
  [9001, "node"], // ProxySQL: no server could be reached in time
  [9005, "node"], // TiDB: a region of the data is unavailable

  [1205, "busy"], // a lock was not released in time
  [1213, "busy"], // deadlock; Galera: the transaction lost against another node's
  [1461, "busy"], // there are too many prepared statements
  [1615, "busy"], // the prepared statement needs to be prepared again
  [3101, "busy"], // Group Replication: the transaction lost against another member's
  [8028, "busy"], // TiDB: the schema has changed

  [1040, "full"], // max_connections
  [1203, "full"], // max_user_connections of the server
  [1226, "full"], // max_user_connections of the account

  // Vitess: a shard has no healthy tablet. The connection is good for the others; a new one might not be,
  // because vtgate asks one of the shards when a session is set up.
  [1105, "refused"],
  ["ECONNREFUSED", "refused"],
  ["ETIMEDOUT", "refused"],
  ["ENOTFOUND", "refused"],
  ["EAI_AGAIN", "refused"],
  ["EHOSTUNREACH", "refused"],
  ["ENETUNREACH", "refused"],

  [3024, "ended"], // MySQL: max_execution_time
  [1969, "ended"], // MariaDB: max_statement_time

  [1317, "interrupted"],
]);

/** The fields of an error, which may be of Node, of mysql2, of Knex or of anyone. */
type Fields = Readonly<Record<string, unknown>>;

/** What an error says; undefined if it says nothing about connections, servers or other sessions. */
export function failureOf(error: unknown): Failure | undefined {
  const { code, errno, sqlState, fatal } = (error ?? {}) as Fields;
  const known = FAILURES.get(Number(errno)) ?? FAILURES.get(String(code));
  if (known !== undefined) return known;
  const isLost =
    String(sqlState).startsWith("08") || // "connection exception"
    (fatal === true && errno === undefined); // mysql2's own, which ends the connection, or finds it closed
  return isLost ? "lost" : undefined;
}

/** Whether a tablet of Vitess refused a statement because it has too many rows. It does so again. */
export function isTooLong(error: unknown): boolean {
  return String((error as Fields | null)?.message).includes("Row count exceeded");
}

/** What to do about it. */
export const TOO_LONG =
  "a statement has more rows than a tablet of Vitess returns: raise its --queryserver-config-max-result-size";

/** Whether the session of an error must not be used again, and a read may be repeated on another. */
export function isFailedSession(error: unknown): boolean {
  const failure = failureOf(error);
  return failure === "lost" || failure === "node" || failure === "busy";
}

/**
 * Converts an error of a read. The error becomes the cause, which is logged and never returned.
 *
 * @param connectTimeout how long the pool waited for a connection, in ms
 */
export function toServiceError(error: unknown, connectTimeout?: number): ServiceError {
  const { name } = (error ?? {}) as Fields;
  if (name === "KnexTimeoutError") {
    // Knex's own message asks for a mistake in the code. The pool has room: the database is silent.
    const time = connectTimeout === undefined ? "in time" : `within ${connectTimeout} ms`;
    const cause = new Error(`no connection to the database ${time}`);
    return new ServiceError("databaseUnavailable", undefined, { cause });
  }
  if (isTooLong(error)) {
    return ServiceError.from(new Error(TOO_LONG, { cause: error }));
  }
  const failure = failureOf(error);
  if (failure === undefined) return ServiceError.from(error);
  const cause = { cause: error };
  if (failure === "ended") return new ServiceError("deadlineExceeded", undefined, cause);
  return new ServiceError(
    failure === "full" ? "overloaded" : "databaseUnavailable",
    undefined,
    cause,
  );
}
