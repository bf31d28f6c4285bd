/**
 * Reading from the database under limits: one statement, which is one snapshot,
 * ends on the server too when nobody waits for it any more, and
 * is tried again where a pooled connection turns out to be dead.
 *
 * The pool is Knex's. The statement goes to the driver as a prepared one, which the server
 * parses once per connection; Knex's own `raw` knows none.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Knex } from "knex";
import type { Connection, RowDataPacket } from "mysql2";
import { isLostConnection, toServiceError } from "./driver-error.ts";
import { CONNECT_TIMEOUT } from "./pool.ts";

/** One row: each column as the database writes it; ask for text, with CAST, where it is none. */
export type Row = readonly (string | null)[];

/**
 * Runs one SELECT and resolves to its rows.
 *
 * Rejects with a `ServiceError`: `databaseUnavailable`, `deadlineExceeded`, `canceled`, or `internal` where the
 * statement itself is at fault.
 *
 * @param sql a statement that starts with `SELECT `, with `?` for each binding
 */
export type Read = (
  sql: string,
  bindings: readonly Binding[],
  signal: AbortSignal,
) => Promise<Row[]>;

/** The value of a `?`: text, which the database makes a number or an instant of, or bytes. */
export type Binding = string | Buffer;

/** Makes the `Read` of a pool. */
export function createRead(database: Knex): Read {
  /** Connections that answered before: only these can have died since. */
  const proven = new WeakSet<PooledConnection>();
  return async (sql, bindings, signal) => {
    if (!sql.startsWith("SELECT ")) throw new Error("a read starts with SELECT");
    for (;;) {
      let connection: PooledConnection | undefined;
      try {
        connection = await acquire(database, signal);
        const rows = await readOn(connection, database, sql, bindings, signal);
        proven.add(connection);
        return rows;
      } catch (error) {
        // A pooled connection that the server had closed fails its next query, and all of
        // them may be dead at once. A read is safe to ask again; each dead one leaves the
        // pool, so this ends with a new one.
        const retry = connection && proven.has(connection) && isLostConnection(error);
        if (!retry || signal.aborted) throw toServiceError(error);
      }
    }
  };
}

async function readOn(
  connection: PooledConnection,
  database: Knex,
  sql: string,
  bindings: readonly Binding[],
  signal: AbortSignal,
): Promise<Row[]> {
  const query = execute(connection, sql, bindings);
  let abandon = () => {};
  const abandoned = new Promise<never>((_, reject) => {
    abandon = () => reject(signal.reason);
  });
  signal.addEventListener("abort", abandon, { once: true });
  try {
    const rows = await Promise.race([query, abandoned]);
    database.client.releaseConnection(connection);
    return rows;
  } catch (error) {
    if (signal.aborted) discard(database, connection);
    else database.client.releaseConnection(connection);
    throw error;
  } finally {
    signal.removeEventListener("abort", abandon);
  }
}

/** Runs a prepared statement, which is prepared where the connection does not know it yet. */
function execute(
  connection: PooledConnection,
  sql: string,
  bindings: readonly Binding[],
): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    connection.execute<RowDataPacket[][]>(
      { sql, values: bindings as Binding[], rowsAsArray: true },
      (error, rows) => (error ? reject(error) : resolve(rows as unknown as Row[])),
    );
  });
}

/** A connection of the pool; where the caller goes first, it is given back when it comes. */
function acquire(database: Knex, signal: AbortSignal): Promise<PooledConnection> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const abandon = () => reject(signal.reason);
    signal.addEventListener("abort", abandon, { once: true });
    (database.client.acquireConnection() as Promise<PooledConnection>).then(
      (connection) => {
        signal.removeEventListener("abort", abandon);
        if (signal.aborted) database.client.releaseConnection(connection);
        else resolve(connection);
      },
      (error) => {
        signal.removeEventListener("abort", abandon);
        reject(error);
      },
    );
  });
}

/** A connection as Knex's pool keeps it: one that is marked as disposed is never used again. */
type PooledConnection = Connection & { __knex__disposed?: unknown };

/**
 * Ends a query that nobody waits for. The connection is never used again, so that
 * the KILL cannot hit another call's query; it keeps its place in the pool until the
 * KILL is through, so that there are never more queries than the pool is large.
 */
function discard(database: Knex, connection: PooledConnection): void {
  connection.__knex__disposed = "its query was abandoned";
  Promise.race([kill(database, connection), sleep(CONNECT_TIMEOUT, undefined, { ref: false })])
    .catch(() => {}) // the server is away or hangs; its own cap ends the query
    .finally(() => {
      connection.destroy();
      database.client.releaseConnection(connection);
    });
}

/**
 * Ends a connection and its query over a connection of its own. Not `KILL QUERY`, which
 * Knex's own cancellation uses: it does nothing where it overtakes the query.
 */
async function kill(database: Knex, connection: PooledConnection): Promise<void> {
  const killer: Connection = await database.client.acquireRawConnection();
  try {
    await killer.promise().query("KILL ?", [connection.threadId]);
  } finally {
    killer.destroy();
  }
}
