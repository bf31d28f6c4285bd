/**
 * One attempt to run a statement: on a connection of the pool, which stays in the pool only if its
 * session can be used again.
 *
 * Knex's `raw` cannot prepare statements, so an attempt borrows a connection from Knex's pool. The
 * methods that borrow and return it are declared in Knex's types but not documented
 * (https://github.com/knex/knex/blob/master/lib/client.js); if they change, the types and
 * test/database/db/query.test.ts fail.
 */
import type { Knex } from "knex";
import type { Connection, RowDataPacket } from "mysql2";
import type { ReadObservation } from "../telemetry/read-observer.ts";
import { withTimeout } from "../timeout.ts";
import { failureOf, isFailedSession, toServiceError } from "./driver-error.ts";
import { distrust, isVitess, recordAnswer } from "./session.ts";

/** One row: the text of each column, or null. Columns of other types need a CAST. */
export type Row = readonly (string | null)[];

/** A statement, and who follows it. */
export interface Attempted {
  readonly sql: string;
  /** Text, which the database converts to a number or an instant. */
  readonly bindings: readonly string[];
  /** Aborts when the rows are no longer needed. A statement that was sent goes on to its end. */
  readonly signal: AbortSignal;
  /**
   * Called with the rows. If it throws, the rows are not taken: the connection is left, as one that
   * has failed, because another may lead to another server.
   */
  readonly check?: ((rows: readonly Row[]) => void) | undefined;
  readonly observation?: ReadObservation | undefined;
}

/** An attempt failed because of its connection. The cause is what went wrong. */
export class FailedAttempt extends Error {
  override readonly name = "FailedAttempt";

  constructor(cause: unknown) {
    super("the connection failed", { cause });
  }
}

/** There is no connection, and the server accepts no further one. The cause is its error. */
export class FullServer extends Error {
  override readonly name = "FullServer";

  constructor(cause: unknown) {
    super("the server accepts no further connection", { cause });
  }
}

/**
 * Makes one attempt. Settles when the connection is free again, and not before, if the caller leaves.
 * Rejects with a `FailedAttempt` if another attempt may succeed, with `FullServer`, or with a
 * `ServiceError`.
 */
type Attempt = (statement: Attempted) => Promise<Row[]>;

/**
 * Creates the attempts on one pool.
 *
 * @param timeout the time after which a connection that gives no answer is dead, in ms: longer than
 *   the server lets a statement run
 */
export function createAttempt(client: Knex.Client, timeout: number): Attempt {
  async function borrow(): Promise<Connection> {
    try {
      return await client.acquireConnection();
    } catch (error) {
      if (isFailedSession(error)) throw new FailedAttempt(error);
      if (failureOf(error) === "full") throw new FullServer(error);
      throw toServiceError(error, client.config.acquireConnectionTimeout);
    }
  }

  async function run(connection: Connection, sql: string, bindings: readonly string[]) {
    const since = performance.now();
    try {
      const rows = await withTimeout(execute(connection, sql, bindings), timeout);
      recordAnswer(connection);
      return rows;
    } catch (error) {
      if (!mustLeave(error)) throw toServiceError(error);
      // Others may have died with it, or lead to the same server. An end says nothing about them.
      if (isSilence(error) || failureOf(error) === "node") distrust(connection, since);
      connection.destroy();
      throw new FailedAttempt(error);
    }
  }

  return async ({ sql, bindings, signal, observation, check }) => {
    const connection = await borrow();
    try {
      signal.throwIfAborted(); // the caller may have left while the connection was made
      observation?.connected();
      const rows = await run(connection, sql, bindings);
      if (check !== undefined) take(rows, connection, check);
      return rows;
    } finally {
      client.releaseConnection(connection);
    }
  };
}

/** Closes the connection if `check` throws. The others of the pool may lead elsewhere. */
function take(
  rows: readonly Row[],
  connection: Connection,
  check: (rows: readonly Row[]) => void,
): void {
  try {
    check(rows);
  } catch (error) {
    connection.destroy();
    throw new FailedAttempt(error);
  }
}

/** Whether the connection of a statement that failed must not be used again. */
function mustLeave(error: unknown): boolean {
  return (
    isFailedSession(error) || (error as { fatal?: unknown }).fatal === true || isSilence(error)
  );
}

/** Whether an error means that nothing came back within a time. */
function isSilence(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === "ETIMEDOUT";
}

/**
 * Runs a statement: prepared, which the driver does once per connection. Vitess gets it as text: while vtgate improves
 * the plan of one that is prepared, which knows no value, others run by that plan, as many statements on several
 * snapshots. In a text all places of a provider are one value from the first time on.
 */
function execute(connection: Connection, sql: string, bindings: readonly string[]): Promise<Row[]> {
  const options = { sql, values: bindings as string[], rowsAsArray: true };
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, rows: RowDataPacket[][]) =>
      error ? reject(error) : resolve(rows as unknown as Row[]);
    if (isVitess(connection)) connection.query(options, done);
    else connection.execute(options, done);
  });
}
