/**
 * Reading from the database until a signal aborts. Each read is one prepared statement, and so one
 * snapshot. Reads share the pool fairly, are cancelled on the server when the signal aborts, and
 * are retried if a pooled connection turns out to be dead.
 *
 * Knex's `raw` cannot prepare statements, so a read borrows a connection from Knex's pool. The
 * methods that borrow and return it are declared in Knex's types but not documented; if they
 * change, the types and test/database/db/query.test.ts fail.
 */
import type { Knex } from "knex";
import type { Connection, RowDataPacket } from "mysql2";
import { ServiceError } from "../errors.ts";
import { isFailedSession, toServiceError } from "./driver-error.ts";
import { createDurationEstimates, MAX_ESTIMATE } from "./duration-estimate.ts";
import { createFairShare } from "./fair-share.ts";
import { POOL_SIZE } from "./pool.ts";
import { answerOf, type Caller, NoAnswer } from "./session/answer.ts";
import { createSessionControl } from "./session/control.ts";
import { discard, isTrusted, recordAnswer, recordSilence, sessionOf } from "./session/session.ts";

/** One row: the text of each column, or null. Columns of other types need a CAST. */
export type Row = readonly (string | null)[];

/** The value of a `?`: text, which the database converts to a number or an instant, or bytes. */
export type Binding = string | Buffer;

/**
 * Runs one SELECT and resolves to its rows.
 *
 * Rejects with a `ServiceError`: `databaseUnavailable`; `overloaded` if no connection becomes free
 * in time; `deadlineExceeded`; the signal's reason if it aborts; `internal` for any other error.
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

/** How long reads wait. */
export interface ReadLimits {
  /** For a connection, in ms. Default: `POOL_WAIT`. */
  readonly poolWait?: number;
  /**
   * For an answer on a pooled connection, in ms, until the server is asked whether it is working
   * on it. If not, the read is run again on a new connection. Default: `FIRST_BYTE_TIMEOUT`.
   */
  readonly firstByteTimeout?: number;
}

/** The default of `poolWait`, in ms. */
export const POOL_WAIT = 2_000;
/** The default of `firstByteTimeout`, in ms. */
export const FIRST_BYTE_TIMEOUT = 1_500;

/** Creates a `Read` that uses the pool. There must be only one of them for a pool. */
export function createRead(database: Knex, limits: ReadLimits = {}): Read {
  const { poolWait = POOL_WAIT, firstByteTimeout = FIRST_BYTE_TIMEOUT } = limits;
  const client: Knex.Client = database.client;
  const share = createFairShare(client.config.pool?.max ?? POOL_SIZE, poolWait);
  const durations = createDurationEstimates();
  const visit = createSessionControl(client);

  async function borrow(): Promise<Connection> {
    for (;;) {
      let connection: Connection;
      try {
        connection = await client.acquireConnection();
      } catch (error) {
        throw toServiceError(error);
      }
      if (isTrusted(sessionOf(connection))) return connection;
      discard(connection);
      client.releaseConnection(connection);
    }
  }

  /** Runs a statement. Settles only when its connection is free again, also if the caller leaves. */
  async function run(
    sql: string,
    bindings: readonly Binding[],
    owner: string,
    caller: Caller,
  ): Promise<Row[]> {
    for (;;) {
      const began = performance.now();
      const connection = await borrow();
      const session = sessionOf(connection);
      // A connection that was made for this read has not died in the pool.
      const pooled = session.createdAt < began;
      const since = performance.now();
      try {
        if (caller.gone) throw new ServiceError("canceled"); // while the connection was made
        const rows = await answerOf(execute(connection, sql, bindings), {
          session,
          since,
          caller,
          visit,
          timeout: pooled ? firstByteTimeout : Infinity,
        });
        recordAnswer(session);
        durations.record(owner, sql, session.heardAt - since);
        client.releaseConnection(connection);
        return rows;
      } catch (error) {
        const failed = isFailedSession(error) || (error as { fatal?: unknown }).fatal === true;
        if (failed) discard(connection);
        client.releaseConnection(connection);
        if (!failed) throw toServiceError(error);
        const state = error instanceof NoAnswer ? error.state : "silent";
        if (state === "silent") recordSilence(session, since);
        if (state === "working") durations.record(owner, sql, performance.now() - since);
        // Several connections may be dead at once. Each leaves the pool, so the loop ends with a
        // new one.
        if (!pooled || caller.gone) {
          throw new ServiceError("databaseUnavailable", undefined, { cause: error });
        }
      }
    }
  }

  return async (sql, bindings, { signal, deadline = Infinity, owner = "" }) => {
    if (!sql.startsWith("SELECT ")) throw new Error("expected a statement that starts with SELECT");
    signal.throwIfAborted();
    const isTooLate = () => {
      const left = deadline - Date.now();
      return left < MAX_ESTIMATE && left < durations.estimate(owner, sql);
    };
    if (isTooLate()) throw new ServiceError("deadlineExceeded");
    if (!share.take(owner)) {
      await share.wait(owner, signal);
      if (isTooLate()) {
        share.give(owner);
        throw new ServiceError("overloaded"); // the wait took the time
      }
    }
    return new Promise((resolve, reject) => {
      const caller: Caller = { gone: false, onLeave: undefined };
      const leave = () => {
        caller.gone = true;
        reject(signal.reason);
        caller.onLeave?.();
      };
      signal.addEventListener("abort", leave, { once: true });
      if (signal.aborted) leave(); // in the moment in which a place became free
      const settle = () => {
        signal.removeEventListener("abort", leave);
        share.give(owner);
      };
      run(sql, bindings, owner, caller).then(
        (rows) => {
          settle();
          resolve(rows);
        },
        (error) => {
          settle();
          reject(error);
        },
      );
    });
  };
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
