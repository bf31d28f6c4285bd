/**
 * A session: what a connection of a pool is on the server. Every session is set up in the same way,
 * whatever the server's defaults (session-variables.ts).
 *
 * A connection can die without a sign, if its path or its server loses power: a statement on it is
 * never answered. Those that have been idle since that statement was sent may have died with it, and
 * are not lent again. So a power cut costs the statements that were under way, and not a time limit
 * for each connection of the pool. The same goes for a server that says that it is of no use now.
 */
import type { Connection, RowDataPacket } from "mysql2";
import { type SessionOptions, settingStatements } from "./session-variables.ts";

/** How a connection is made. */
export interface ConnectOptions extends SessionOptions {
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
  /** Whether they lead to Vitess's vtgate. Undefined before the first one was made. */
  isVitess?: boolean;
}

/** The default of `connectTimeout`, in ms. */
export const CONNECT_TIMEOUT = 2_000;

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

/** Whether a connection leads to Vitess's vtgate. */
export function isVitess(connection: Connection): boolean {
  return sessions.get(connection)?.pool.isVitess === true;
}

/** Records that a connection has answered. */
export function recordAnswer(connection: Connection): void {
  const session = sessions.get(connection);
  if (session !== undefined) session.answeredAt = performance.now();
}

/** Distrusts what has not answered since `since`, in ms of `performance.now()`, when a statement was sent. */
export function distrust(connection: Connection, since: number): void {
  const pool = sessions.get(connection)?.pool;
  if (pool !== undefined) pool.trustedSince = Math.max(pool.trustedSince, since);
}

/** Sets up the session of a new connection. If that fails, the connection is closed. */
export async function prepareSession(
  connection: Connection,
  options: ConnectOptions,
  pool: PoolState,
): Promise<void> {
  outliveListeners(connection);
  const { connectTimeout: timeout = CONNECT_TIMEOUT } = options;
  try {
    for (const sql of settingStatements(options)) {
      await connection.promise().query({ sql, timeout });
    }
    if (pool.isVitess === undefined) {
      const version = { sql: "SELECT @@version", timeout, rowsAsArray: true };
      const [[row]] = await connection.promise().query<RowDataPacket[][]>(version);
      pool.isVitess = /vitess/i.test(String(row?.[0]));
    }
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
