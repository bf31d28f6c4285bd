/**
 * Reading from the database until a signal aborts. Each read is one prepared statement, and so one
 * snapshot. Reads share the pool fairly, are cancelled on the server when the signal aborts, and
 * are tried again on another connection if one fails.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Knex } from "knex";
import { ServiceError } from "../errors.ts";
import { POOL_SIZE } from "./pool.ts";
import { createFairShare } from "./scheduling/fair-share.ts";
import type { Caller } from "./session/answer.ts";
import {
  type AttemptOptions,
  type Binding,
  createAttempt,
  FailedAttempt,
  type Row,
} from "./session/attempt.ts";

export type { Binding, Row } from "./session/attempt.ts";

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

/** For whom a read runs, until when, and which answers are taken. */
export interface ReadOptions extends AttemptOptions {
  /** Aborts when the rows are no longer needed. */
  readonly signal: AbortSignal;
  /** When the rows are due, in epoch ms; Infinity by default. */
  readonly deadline?: number;
  /** Whose share of the connections the read uses: a provider's id; "" by default. */
  readonly owner?: string;
  /** A short name of the statement, for metrics and traces. */
  readonly operation?: string;
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
  /** Before the second try on a new connection, in ms; twice as long before each further one. */
  readonly retryPause?: number;
  /** Awaited before rows are handed over. Their place is held meanwhile. Default: no wait. */
  readonly waitForTurn?: (rows: number) => Promise<void> | undefined;
}

/** The default of `poolWait`, in ms. */
export const POOL_WAIT = 2_000;
/** The default of `firstByteTimeout`, in ms. */
export const FIRST_BYTE_TIMEOUT = 1_500;
/** The default of `retryPause`, in ms. */
const RETRY_PAUSE = 250;
/**
 * How many new connections a read may fail on. Behind a balancer several in a row may lead to the
 * node that is dying, because that one has the fewest. The pauses between them, 1.75 s together,
 * leave the balancer time to find out.
 */
const MAX_NEW_CONNECTIONS = 4;

/** Creates a `Read` that uses the pool. There must be only one of them for a pool. */
export function createRead(database: Knex, limits: ReadLimits = {}): Read {
  const {
    poolWait = POOL_WAIT,
    firstByteTimeout = FIRST_BYTE_TIMEOUT,
    retryPause = RETRY_PAUSE,
    waitForTurn,
  } = limits;
  const client: Knex.Client = database.client;
  const share = createFairShare(client.config.pool?.max ?? POOL_SIZE, poolWait);
  const attempt = createAttempt(client, firstByteTimeout);

  /** Runs a statement, on further connections if pooled ones fail, and at most on one new one. */
  async function run(
    sql: string,
    bindings: readonly Binding[],
    options: ReadOptions,
    caller: Caller,
  ): Promise<Row[]> {
    for (;;) {
      try {
        const rows = await attempt(sql, bindings, options, caller);
        await waitForTurn?.(rows.length);
        return rows;
      } catch (error) {
        if (!(error instanceof FailedAttempt)) throw error;
        // Several pooled ones may be dead. Each leaves the pool, so the loop gets to a new one.
        if (!error.pooled || caller.gone) throw error;
      }
    }
  }

  /**
   * Runs a statement for a caller that has taken a place, and again on other new connections if one
   * fails. The place is given back at the end, and during the pauses: nobody waits for them.
   */
  async function runWithRetries(
    sql: string,
    bindings: readonly Binding[],
    options: ReadOptions,
    caller: Caller,
  ): Promise<Row[]> {
    const { signal, deadline = Infinity, owner = "" } = options;
    for (let failures = 0; ; ) {
      try {
        return await run(sql, bindings, options, caller).finally(() => share.give(owner));
      } catch (error) {
        if (!(error instanceof FailedAttempt)) throw error;
        const pause = retryPause * 2 ** failures++;
        const isLast = failures === MAX_NEW_CONNECTIONS || Date.now() + pause >= deadline;
        if (!isLast && !caller.gone) await sleep(pause, undefined, { signal }).catch(() => {});
        if (isLast || caller.gone) {
          throw new ServiceError("databaseUnavailable", undefined, { cause: error.cause });
        }
      }
      if (!share.take(owner)) await share.wait(owner, signal);
    }
  }

  return async (sql, bindings, options) => {
    const { signal, owner = "" } = options;
    if (!sql.startsWith("SELECT ")) throw new Error("expected a statement that starts with SELECT");
    signal.throwIfAborted();
    if (!share.take(owner)) await share.wait(owner, signal);
    return new Promise((resolve, reject) => {
      const caller: Caller = { gone: false, onLeave: undefined };
      const leave = () => {
        caller.gone = true;
        reject(signal.reason);
        caller.onLeave?.();
      };
      signal.addEventListener("abort", leave, { once: true });
      if (signal.aborted) leave(); // in the moment in which a place became free
      runWithRetries(sql, bindings, options, caller)
        .finally(() => signal.removeEventListener("abort", leave))
        .then(resolve, reject);
    });
  };
}

/** Follows one read. */
export interface ReadObservation {
  /** It has a connection. Called again if it is tried again on another one. */
  connected(): void;
  /** It has ended. Called once. */
  ended(error?: unknown): void;
}

/** Starts to follow a read, by the short name of its statement. */
export type ObserveRead = (operation: string) => ReadObservation;

/** The name of statements without one. */
const UNNAMED = "other";

/** Returns a `Read` that does what `read` does, and is followed. */
export function observeReads(read: Read, observe: ObserveRead): Read {
  return async (sql, bindings, options) => {
    const observation = observe(options.operation ?? UNNAMED);
    const onConnection = () => observation.connected();
    try {
      const rows = await read(sql, bindings, { ...options, onConnection });
      observation.ended();
      return rows;
    } catch (error) {
      observation.ended(error);
      throw error;
    }
  };
}
