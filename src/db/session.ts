/**
 * A session: what a connection of a pool is on the server. Every session uses UTC, exact decimals and
 * one SQL mode, whatever the server's defaults, and the server ends its statements at a time limit.
 *
 * A connection can die without a sign, if its path or its server loses power: a statement on it is
 * never answered. Those that have been idle since that statement was sent may have died with it, and
 * are not lent again. So a power cut costs the statements that were under way, and not a time limit
 * for each connection of the pool.
 */
import type { Connection } from "mysql2";

/** How a session is set up. */
export interface SessionOptions {
  /** Makes the session read-only on the server. Default: false. */
  readonly readOnly?: boolean;
  /** The time after which the server ends a statement, in ms. Default: no limit. */
  readonly maxStatement?: number;
  /**
   * The time limit for a new connection, and for each statement that sets its session up, in ms.
   * Default: `CONNECT_TIMEOUT`.
   */
  readonly connectTimeout?: number;
}

/** What the connections of one pool share. Times are in ms of `performance.now()`. */
export interface PoolState {
  /** Connections that have not answered since this time may have died with another. */
  trustedSince: number;
}

/** The default of `connectTimeout`, in ms. */
export const CONNECT_TIMEOUT = 2_000;

/** Dates that do not exist, like the date zero, are compared and sorted as a lax writer stored them. */
const SQL_MODE = [
  "STRICT_TRANS_TABLES",
  "ALLOW_INVALID_DATES",
  "ONLY_FULL_GROUP_BY",
  "ERROR_FOR_DIVISION_BY_ZERO",
  "NO_ENGINE_SUBSTITUTION",
].join(",");

/** When a connection answered last, in ms of `performance.now()`, and its pool. */
interface Session {
  answeredAt: number;
  readonly pool: PoolState;
}

const sessions = new WeakMap<Connection, Session>();

/** Whether a connection may be lent: nothing has happened since it answered that casts doubt on it. */
export function isTrusted(connection: Connection): boolean {
  const session = sessions.get(connection);
  return session !== undefined && session.answeredAt > session.pool.trustedSince;
}

/** Records that a connection has answered. */
export function recordAnswer(connection: Connection): void {
  const session = sessions.get(connection);
  if (session !== undefined) session.answeredAt = performance.now();
}

/** Closes a connection that failed a statement sent at `since`, in ms of `performance.now()`. */
export function giveUp(connection: Connection, since: number): void {
  connection.destroy();
  const pool = sessions.get(connection)?.pool;
  if (pool !== undefined) pool.trustedSince = Math.max(pool.trustedSince, since);
}

/** Sets up the session of a new connection. If that fails, the connection is closed. */
export async function prepareSession(
  connection: Connection,
  options: SessionOptions,
  pool: PoolState,
): Promise<void> {
  outliveListeners(connection);
  try {
    await setVariables(connection, options);
  } catch (error) {
    connection.destroy();
    throw error;
  }
  sessions.set(connection, { answeredAt: performance.now(), pool });
}

/**
 * Knex removes the listeners of a connection that it has closed. The socket may fail minutes later, if
 * the host is gone, and without a listener that would be an uncaught error.
 */
function outliveListeners(connection: Connection): void {
  const ignore = () => {};
  connection.on("removeListener", (event, removed) => {
    if (event === "error" && removed !== ignore) {
      queueMicrotask(() => connection.on("error", ignore));
    }
  });
}

/**
 * Sets the session variables. Only MariaDB executes the comments with M, only MySQL those with
 * 80000 and only TiDB those with T: it refuses READ ONLY, which it ignores, unless told otherwise.
 * The isolation level is set here because `transaction({ isolationLevel, readOnly })` of Knex is a
 * syntax error on MySQL.
 */
async function setVariables(
  connection: Connection,
  { readOnly = false, maxStatement = 0, connectTimeout = CONNECT_TIMEOUT }: SessionOptions,
): Promise<void> {
  const set = (variables: string) =>
    connection.promise().query({ sql: `SET SESSION ${variables}`, timeout: connectTimeout });
  await set(
    `time_zone = '+00:00', sql_mode = '${SQL_MODE}'
     /*M! , max_statement_time = ${maxStatement / 1000} */
     /*!80000 , max_execution_time = ${maxStatement} */
     /*T! , tidb_enable_noop_functions = 1 */`,
  );
  await set(`TRANSACTION ISOLATION LEVEL REPEATABLE READ${readOnly ? ", READ ONLY" : ""}`);
}
