/**
 * One attempt at a read: some statements on one connection of the pool, which stays in the pool only if its
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

/** One row: the text of each column, or null. Others need a CAST: the driver gives BIGINT as text, INT as a number. */
export type Row = readonly (string | null)[];

/**
 * Runs one SELECT and resolves to its rows. Nothing is sent once the caller has left.
 *
 * @param sql a statement that starts with `SELECT `, with `?` for each binding
 * @param bindings text, which the database converts to a number or an instant
 * @param operation a short name of the statement, for metrics and traces
 */
export interface Query {
  (sql: string, bindings: readonly string[], operation: string): Promise<Row[]>;
  /**
   * If answers have a greatest age, a compiled statement also reads the heartbeat: takes both instants as text, and
   * returns that from which on the answer may lack what was committed, in epoch ms. Throws if it is too old.
   */
  readonly limitAge?: (instants: string) => number;
}

/** A connection that is lent for an attempt. One statement at a time runs on it. */
export interface Session {
  readonly query: Query;
  /** Runs queries in a transaction, and so on one node and one snapshot. */
  transaction<T>(work: () => Promise<T>): Promise<T>;
}

/** What an attempt does, and who follows it. */
export interface Attempted<T> {
  readonly work: (session: Session) => Promise<T>;
  /** Aborts when the caller has left. A statement that was sent goes on to its end. */
  readonly signal: AbortSignal;
  readonly observation?: ReadObservation | undefined;
}

/**
 * An attempt failed because of its connection, which leads to no server, or to one that must not answer; another
 * one may lead elsewhere. The cause is what went wrong.
 */
export class FailedAttempt extends Error {
  override readonly name = "FailedAttempt";

  constructor(cause: unknown) {
    super("the connection failed", { cause });
  }
}

/**
 * Makes one attempt. Settles when the connection is free again, and not before, if the caller leaves.
 * Rejects with a `FailedAttempt` if another attempt may succeed, with a `ServiceError`, or with what the
 * work throws.
 */
type Attempt = <T>(attempted: Attempted<T>) => Promise<T>;

/** How a statement is sent. */
type Send = (connection: Connection, sql: string, bindings: readonly string[]) => Promise<Row[]>;

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
      throw toServiceError(error, client.config.acquireConnectionTimeout);
    }
  }

  async function run<T>(
    connection: Connection,
    send: () => Promise<T>,
    observation?: ReadObservation,
  ): Promise<T> {
    const since = performance.now();
    try {
      const rows = await withTimeout(send(), timeout);
      recordAnswer(connection);
      observation?.ended();
      return rows;
    } catch (error) {
      // Others may have died with it, or lead to the same server. An end says nothing about them.
      if (isSilence(error) || failureOf(error) === "node") distrust(connection, since);
      const failure = mustLeave(error) ? new FailedAttempt(error) : toServiceError(error);
      observation?.ended(failure);
      throw failure;
    }
  }

  function sessionOn(
    connection: Connection,
    { signal, observation }: Pick<Attempted<unknown>, "signal" | "observation">,
  ): Session {
    const query: Query = async (sql, bindings, operation) => {
      if (!sql.startsWith("SELECT "))
        throw new Error("expected a statement that starts with SELECT");
      signal.throwIfAborted();
      observation?.sent(operation);
      return run(connection, () => execute(connection, sql, bindings), observation);
    };
    return {
      query,
      async transaction(work) {
        await run(connection, () => sendText(connection, "START TRANSACTION", []));
        try {
          const result = await work();
          await run(connection, () => sendText(connection, "COMMIT", []));
          return result;
        } catch (error) {
          connection.destroy(); // with what is open on it
          throw error;
        }
      },
    };
  }

  return async ({ work, signal, observation }) => {
    const connection = await borrow();
    try {
      signal.throwIfAborted(); // the caller may have left while the connection was made
      observation?.ended(); // its wait
      return await work(sessionOn(connection, { signal, observation }));
    } catch (error) {
      if (error instanceof FailedAttempt) connection.destroy();
      throw error;
    } finally {
      client.releaseConnection(connection);
    }
  };
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
 * Runs a statement: prepared, which the driver does once per connection. Vitess gets it as text, in which all places
 * of a provider are one value. In a prepared one they are parameters: while vtgate makes a better plan with their
 * values, others run by the first plan, as one statement for each place on several snapshots.
 */
const execute: Send = (connection, sql, bindings) =>
  isVitess(connection)
    ? sendText(connection, sql, bindings)
    : received((done) =>
        connection.execute({ sql, values: bindings as string[], rowsAsArray: true }, done),
      );

const sendText: Send = (connection, sql, bindings) =>
  received((done) =>
    connection.query({ sql, values: bindings as string[], rowsAsArray: true }, done),
  );

/** The rows of a statement that the driver sends. */
function received(
  send: (done: (error: Error | null, rows: RowDataPacket[][]) => void) => void,
): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    send((error, rows) => (error ? reject(error) : resolve(rows as unknown as Row[])));
  });
}
