/**
 * Reading from the database until a signal aborts. A read is some statements on one connection; each is
 * one snapshot. Reads share the pool fairly, and are tried again as a whole, on another
 * connection, if theirs fails.
 *
 * A statement whose caller has left goes on until it ends, at the latest when the server ends it. Until
 * then it holds its place in its owner's share of the pool.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Knex } from "knex";
import { ServiceError } from "../errors.ts";
import type { ObserveRead } from "../telemetry/read-observer.ts";
import { type Attempted, createAttempt, FailedAttempt, type Session } from "./attempt.ts";
import { createFairShare } from "./fair-share.ts";
import { POOL_SIZE } from "./pool.ts";

export type { Query, Row, Session } from "./attempt.ts";

/**
 * Lends a connection to some work, and resolves to what that resolves to. The work begins anew if the
 * connection fails.
 *
 * Rejects with a `ServiceError`: `databaseUnavailable`; `overloaded` if no connection becomes free
 * in time; `deadlineExceeded` if the server ends a statement;
 * `internal` for any other error of the database; with the signal's reason if it aborts; or with what the
 * work throws.
 */
export type Read = <T>(work: (session: Session) => Promise<T>, options: ReadOptions) => Promise<T>;

/** For whom a read runs, and until when. */
export interface ReadOptions extends Pick<Attempted<unknown>, "signal"> {
  /** Whose share of the connections the read uses; "" by default. */
  readonly owner?: string;
}

/** How long reads wait, and who follows them. */
export interface ReadLimits {
  /** For a connection, in ms. Default: `POOL_WAIT`. */
  readonly poolWait?: number;
  /** The time after which the server ends a statement, in ms. Default: `MAX_STATEMENT`. */
  readonly maxStatement?: number;
  /** The pauses before a read is tried again, in ms. Default: `RETRY_PAUSES`. */
  readonly retryPauses?: readonly number[];
  /** Follows each read, until its rows have arrived. Default: nobody does. */
  readonly observe?: ObserveRead;
}

/** The default of `poolWait`, in ms. */
export const POOL_WAIT = 2_000;
/** The default of `maxStatement`, in ms. */
const MAX_STATEMENT = 10_500;
/** How much later than that an answer must have arrived, in ms. */
const ANSWER_GRACE = 500;
/**
 * The pauses before a read that failed because of its connection is tried again, in ms. Most such
 * connections have died in the pool, and the first new one will do. Behind a balancer several in a row
 * may lead to the node that is dying, because that one has the fewest.
 */
const RETRY_PAUSES = [0, 250, 500];

/** Creates a `Read` that uses the pool. There must be only one of them for a pool. */
export function createRead(database: Knex, limits: ReadLimits = {}): Read {
  const {
    poolWait = POOL_WAIT,
    maxStatement = MAX_STATEMENT,
    retryPauses = RETRY_PAUSES,
    observe,
  } = limits;
  const client: Knex.Client = database.client;
  const share = createFairShare(client.config.pool?.max ?? POOL_SIZE, poolWait);
  const attempt = createAttempt(client, maxStatement + ANSWER_GRACE);

  /** Runs work for a caller that has taken a place, and again if its connection fails. */
  async function run<T>(attempted: Attempted<T>): Promise<T> {
    const { signal } = attempted;
    for (let failures = 0; ; ) {
      try {
        return await attempt(attempted);
      } catch (error) {
        if (!(error instanceof FailedAttempt)) throw error;
        const pause = retryPauses[failures++];
        if (pause === undefined || signal.aborted) {
          throw new ServiceError("databaseUnavailable", undefined, { cause: error.cause });
        }
        await sleep(pause, undefined, { signal });
      }
    }
  }

  return async (work, options) => {
    const { signal } = options;
    const owner = options.owner ?? "";
    const observation = observe?.();
    try {
      signal.throwIfAborted();
      if (!share.take(owner)) await share.wait(owner, signal);
      const attempted = { work, signal, observation };
      return await untilAborted(
        run(attempted).finally(() => share.give(owner)),
        signal,
      );
    } catch (error) {
      observation?.ended(error);
      throw error;
    }
  };
}

/** Settles as the work does, or rejects with the signal's reason as soon as that aborts. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    work.finally(() => signal.removeEventListener("abort", leave)).then(resolve, reject);
  });
}
