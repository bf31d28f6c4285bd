/**
 * Reading from the database until a signal aborts. Each read is one prepared statement, and so one
 * snapshot. It is cancelled on the server when the signal aborts, and retried if a pooled
 * connection turns out to be dead.
 *
 * Knex's `raw` cannot prepare statements, so a read borrows a connection from Knex's pool. The
 * methods that borrow and return it are declared in Knex's types but not documented; if they
 * change, the types and test/database/db/query.test.ts fail.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Knex } from "knex";
import type { Connection, RowDataPacket } from "mysql2";
import { isLostConnection, toServiceError } from "./driver-error.ts";
import { CONNECT_TIMEOUT } from "./pool.ts";

/** One row: the text of each column, or null. Columns of other types need a CAST. */
export type Row = readonly (string | null)[];

/** The value of a `?`: text, which the database converts to a number or an instant, or bytes. */
export type Binding = string | Buffer;

/**
 * Runs one SELECT and resolves to its rows.
 *
 * Rejects with a `ServiceError`: `databaseUnavailable`; `deadlineExceeded`; the signal's reason if
 * it aborts; `internal` for any other error.
 *
 * @param sql a statement that starts with `SELECT `, with `?` for each binding
 */
export type Read = (
  sql: string,
  bindings: readonly Binding[],
  options: ReadOptions,
) => Promise<Row[]>;

/** For whom a read runs, and until when. */
export interface ReadOptions {
  /** Aborts when the rows are no longer needed. */
  readonly signal: AbortSignal;
  /** When the rows are due, in epoch ms; Infinity by default. */
  readonly deadline?: number;
  /** Whose share of the connections the read uses: a provider's id; "" by default. */
  readonly owner?: string;
}

/** Creates a `Read` that uses the pool. */
export function createRead(database: Knex): Read {
  const client: Knex.Client = database.client;
  /** Connections that have run a query. Only these can have died in the pool. */
  const used = new WeakSet<Connection>();
  return async (sql, bindings, { signal }) => {
    if (!sql.startsWith("SELECT ")) throw new Error("expected a statement that starts with SELECT");
    for (;;) {
      let connection: Connection | undefined;
      try {
        connection = await acquire(client, signal);
        const rows = await untilAborted(execute(connection, sql, bindings), signal);
        client.releaseConnection(connection);
        used.add(connection);
        return rows;
      } catch (error) {
        if (connection && signal.aborted) cancel(client, connection);
        else if (connection) client.releaseConnection(connection);
        // If the server closed a pooled connection, its next query fails. Several may be dead at
        // once. Each leaves the pool, so the loop ends with a new connection.
        const retry = connection && used.has(connection) && isLostConnection(error);
        if (!retry || signal.aborted) throw toServiceError(error);
      }
    }
  };
}

/** Takes a connection from the pool. If the signal aborts first, the connection is returned. */
async function acquire(client: Knex.Client, signal: AbortSignal): Promise<Connection> {
  signal.throwIfAborted();
  const acquired: Promise<Connection> = client.acquireConnection();
  try {
    return await untilAborted(acquired, signal);
  } catch (error) {
    acquired.then((connection) => client.releaseConnection(connection)).catch(() => {});
    throw error;
  }
}

/** Settles as the promise does, or rejects with the signal's reason as soon as it aborts. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Runs a prepared statement. The driver prepares it once per connection. */
function execute(
  connection: Connection,
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

/**
 * Cancels the query of a connection on the server, in the background, and closes the connection.
 * The connection keeps its place in the pool until the KILL is done, so there are never more
 * queries than the size of the pool. The pool drops a closed connection when it is released.
 */
function cancel(client: Knex.Client, connection: Connection): void {
  Promise.race([kill(client, connection), sleep(CONNECT_TIMEOUT, undefined, { ref: false })])
    .catch(() => {}) // the server is unavailable; its own time limit ends the query
    .finally(() => {
      connection.destroy();
      client.releaseConnection(connection);
    });
}

/**
 * Kills a connection and its query, over a connection of its own. Knex's own cancellation uses
 * KILL QUERY, which has no effect if it reaches the server before the query does.
 */
async function kill(client: Knex.Client, connection: Connection): Promise<void> {
  const killer: Connection = await client.acquireRawConnection();
  try {
    await killer.promise().query("KILL ?", [connection.threadId]);
  } finally {
    killer.destroy();
  }
}
