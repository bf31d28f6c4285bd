/**
 * The rollup run: brings the rollup of every provider up to date, one after the other.
 * Idempotent; may be killed at any point, and run twice at once.
 */
import type { Knex } from "knex";
import pRetry, { type Options } from "p-retry";
import { fromDatetime, toDatetime } from "../../db/datetime.ts";
import { END } from "../timeline.ts";
import { beginBuild, buildSegment, isBuilding, purge } from "./build.ts";
import { refresh } from "./refresh.ts";
import { segmentSize } from "./segment-size.ts";

export interface RollupOptions {
  /** How far before now the watermark stays, in ms: how long a writer's transaction may be open. */
  readonly margin: number;
  /** Builds every rollup anew; reads use the old one meanwhile. */
  readonly rebuild?: boolean;
  /** Stops between two steps when it aborts. */
  readonly signal?: AbortSignal;
  /** Is told of each step. */
  readonly report?: (progress: RollupProgress) => void;
}

/** Where a run is. */
export interface RollupProgress {
  /** `providers.id` */
  readonly provider: string;
  /** How many providers are done, of how many. */
  readonly done: number;
  readonly providers: number;
  /** How many charges this run has taken up so far. */
  readonly charges: number;
  /** Of a build: until which instant of the ledger it is. */
  readonly building?: string;
}

/** What a run did. */
export interface RollupResult {
  readonly providers: number;
  readonly charges: number;
}

/**
 * Brings the rollups of all providers up to date.
 *
 * @throws AggregateError that names the providers where something of their own is wrong, after
 * all others are up to date; else what the database is away with
 */
export async function rollUp(database: Knex, options: RollupOptions): Promise<RollupResult> {
  const ids: string[] = (await database("providers").orderBy("id").pluck("id")).map(String);
  const wrong: Error[] = [];
  let charges = 0;
  for (const [done, provider] of ids.entries()) {
    const place = { provider, done, providers: ids.length };
    try {
      charges += await rollUpProvider(database, provider, options, (count, building) =>
        options.report?.({ ...place, charges: charges + count, ...(building && { building }) }),
      );
    } catch (cause) {
      if (!isOfOne(cause)) throw cause;
      const { message, sqlMessage = message } = cause;
      wrong.push(new Error(`provider ${provider}: ${sqlMessage}`, { cause }));
    }
    if (options.signal?.aborted) break;
  }
  if (wrong.length > 0) {
    throw new AggregateError(wrong, wrong.map(({ message }) => message).join("\n"));
  }
  return { providers: ids.length, charges };
}

/** Resolves to how many charges were taken up. */
async function rollUpProvider(
  database: Knex,
  provider: string,
  { margin, rebuild = false, signal }: RollupOptions,
  report: (charges: number, building?: string) => void,
): Promise<number> {
  let charges = 0;
  const until = await instantBefore(database, margin);
  const size = await segmentSize(database, provider);
  const moveOn = async () => {
    const result = await withRetry(() => refresh(database, provider, until, size));
    if (result.outcome === "advanced") charges += result.charges;
    report(charges);
    return result.outcome;
  };
  if (!rebuild) {
    const outcome = await moveOn();
    // A build that was begun and killed is taken up, also one that was asked for.
    if (outcome !== "build" && !(await isBuilding(database, provider))) {
      // What a run that was killed before it could purge has left.
      await withRetry(() => purge(database, provider));
      return charges;
    }
  }
  const build = await withRetry(() => beginBuild(database, provider, until, rebuild));
  for (;;) {
    const step = await withRetry(() => buildSegment(database, build, size));
    if (step === undefined) break;
    charges += step.charges;
    report(charges, step.at);
    if (step.at === END) break;
    if (signal?.aborted) return charges;
  }
  // One that was taken up has the watermark of when it was begun.
  if (build.watermark !== until) await moveOn();
  await withRetry(() => purge(database, provider));
  return charges;
}

/** An instant of the database's clock, which is the one that `recorded_at` is written by. */
async function instantBefore(database: Knex, margin: number): Promise<string> {
  const [rows] = await database.raw("SELECT UTC_TIMESTAMP(3) AS now");
  return toDatetime(fromDatetime(rows[0].now) - margin);
}

/** What passes when it is tried again: deadlocks, Galera's certification failures, lost connections. */
const PASSING = new Set([
  "ER_LOCK_DEADLOCK",
  "ER_LOCK_WAIT_TIMEOUT",
  "PROTOCOL_CONNECTION_LOST",
  "ECONNRESET",
  "ECONNREFUSED",
  "EPIPE",
]);

const RETRY: Options = {
  retries: 6,
  minTimeout: 100,
  maxTimeout: 5_000,
  randomize: true,
  shouldRetry: ({ error }) => isPassing(error),
};

/** SQLSTATE's classes of what is wrong for every provider: connections, accounts, missing tables. */
const EVERYBODYS = /^(08|28|42)/;

/** Whether an error may be one provider's alone. */
function isOfOne(error: unknown): error is Error & { readonly sqlMessage?: string } {
  if (!(error instanceof Error) || isPassing(error)) return false;
  if (error.name === "KnexTimeoutError") return false;
  return !("sqlState" in error && EVERYBODYS.test(String(error.sqlState)));
}

function isPassing(error: Error): boolean {
  return "code" in error && PASSING.has(String(error.code));
}

function withRetry<T>(work: () => Promise<T>): Promise<T> {
  return pRetry(work, RETRY);
}
