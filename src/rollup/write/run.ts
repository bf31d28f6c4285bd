/**
 * A rollup run. What it does for a provider follows from what the database has of it, in this order:
 *
 * 1. a rollup, and news: a refresh. If that is too much, or its rows contradict each other, a build.
 * 2. no rollup and enough rows, a watermark ahead of the clock, or a build in progress: the steps of a build, until it
 *    is complete or the time is up. New ones come first: a long one takes its turn after everyone else.
 * 3. a rollup, of which a slice is due: a check, until none is due or the time is up; or a build, for the same reasons.
 * 4. a rollup of another format that nobody has written for a week: it is deleted.
 *
 * So a run is idempotent. It may be killed at any point, and runs may overlap.
 */
import type { Knex } from "knex";
import pLimit from "p-limit";
import { DAY, fromDatetime } from "../../db/datetime.ts";
import type { RollupRun } from "../../telemetry/metrics/runs.ts";
import { purgeFormats } from "./purge.ts";
import { readClock } from "./run/clock.ts";
import { findDue, readChecked } from "./run/due.ts";
import { WRITE_HEARTBEAT } from "./run/heartbeat.ts";
import { findNews, type NewsOptions } from "./run/news.ts";
import { readProviders } from "./run/pages.ts";
import { isProviderSpecific } from "./run/retry.ts";
import {
  buildProvider,
  checkProvider,
  type RollupProgress,
  type Run,
  refreshProvider,
} from "./run/work.ts";
import type { Writer } from "./run/writers.ts";

/** The default margin, in ms. */
export const MARGIN = 900_000;
/** The default of `checkPeriod`, in ms. */
export const CHECK_PERIOD = DAY;
/** The default of `concurrency`. */
export const CONCURRENCY = 4;

/** How to run. Times are in ms. */
export interface RollupOptions extends Omit<NewsOptions, "all"> {
  /**
   * How far the watermark stays before the oldest that may still write, or before now, in ms. At least a second, unless
   * nobody writes.
   */
  readonly margin: number;
  /** Whether the account sees who may still write. Default: no. */
  readonly seesTransactions?: boolean;
  /** The time within which every rollup is compared with the whole ledger, in ms. */
  readonly checkPeriod?: number;
  /** The number of providers to work on at once. */
  readonly concurrency?: number;
  /** Builds every rollup again. Queries use the old one until the new one is complete. */
  readonly rebuild?: boolean;
  /**
   * The time from the start of the run after which builds and checks end, in ms: each after a step, and
   * one check at least. Default: no limit.
   */
  readonly maxTime?: number;
  /** Stops the run after the current step. */
  readonly signal?: AbortSignal;
  /** Called after each step. */
  readonly report?: (progress: RollupProgress) => void;
}

/** What a run did and found. */
export interface RollupResult extends RollupRun {
  /** The number of providers that had news. */
  readonly news: number;
  /** The number of providers without a rollup that are too small for one. */
  readonly small: number;
  /** The number of rollups of which a slice was compared with the ledger. */
  readonly checked: number;
  /** The number of changes that put a difference right, and of rollups that had to be built anew. */
  readonly repairs: number;
  /** Whether there are builds to go on with at once. */
  readonly unfinished: boolean;
  /** What holds the watermark back, if anything does. */
  readonly waitsFor: Writer | undefined;
  /** One error per provider that failed for a reason of its own, if any did; all others are up to date. */
  readonly failure: AggregateError | undefined;
}

/**
 * Brings the rollups of all providers up to date.
 *
 * @throws the driver's error that every provider would get: the database is unavailable, for example
 */
export async function rollUp(database: Knex, options: RollupOptions): Promise<RollupResult> {
  const { concurrency = CONCURRENCY, rebuild = false, counted } = options;
  const run = await beginRun(database, options, performance.now());
  const { news, total, stopped, outOfTime } = run;
  const errors: Error[] = [];
  const fatal: unknown[] = [];
  const limit = pLimit(concurrency);
  /** Works for some providers, whose own errors do not stop the run. After one that all would get, no work begins. */
  const each = async <Task extends { readonly provider: string }>(
    tasks: readonly Task[],
    work: (task: Task) => Promise<void>,
    enough = stopped,
  ) => {
    const attempt = async (task: Task) => {
      if (fatal.length > 0 || enough()) return;
      await work(task).catch((cause) => {
        if (isProviderSpecific(cause)) {
          const { message, sqlMessage = message } = cause;
          errors.push(new Error(`provider ${task.provider}: ${sqlMessage}`, { cause }));
        } else fatal.push(cause);
      });
    };
    await Promise.all(tasks.map((task) => limit(attempt, task)));
    if (fatal.length > 0) throw fatal[0];
  };

  const { refreshes = [], builds = [] } = Object.groupBy(news, (found) =>
    found.version && !found.building && !found.ahead && !rebuild ? "refreshes" : "builds",
  );
  await each(refreshes, async (found) => {
    if (!(await refreshProvider(run, found))) builds.push(found);
  });
  builds.sort((left, right) => Number(left.building) - Number(right.building));
  await each(builds, (found) => buildProvider(run, found));
  // One at least, also if refreshes and builds take longer than a run may.
  const enough = () => stopped() || (total.checked > 0 && outOfTime());
  await each(await findDue(database, run.period), (due) => checkProvider(run, due), enough);
  await purgeFormats(database);

  const checked = await readChecked(database, run.period);
  // What is not begun, because the run failed or ends, is to be found again.
  const unbuilt = run.behind.values().some(({ version, building }) => !version && !building);
  if (counted && !unbuilt) {
    Object.assign(counted, { upTo: run.clock.until, rollups: checked.rollups });
  }
  const failure =
    errors.length === 0
      ? undefined
      : new AggregateError(errors, errors.map(({ message }) => message).join("\n"));
  return { ...resultOf(run, checked), failure };
}

/** Begins a run: finds how far it may go, and who has news up to there. */
async function beginRun(database: Knex, options: RollupOptions, started: number): Promise<Run> {
  const { margin, rebuild = false, maxTime = Infinity, checkPeriod = CHECK_PERIOD } = options;
  await database.raw(WRITE_HEARTBEAT);
  const clock = await readClock(database, margin, options.seesTransactions ?? false);
  const ids = await readProviders(database);
  const news = await findNews(database, ids, clock, { ...options, all: rebuild });
  return {
    database,
    started,
    news,
    options,
    clock,
    period: checkPeriod,
    providers: ids.length,
    behind: new Map(news.map((found) => [found.provider, found])),
    total: { charges: 0, checked: 0, repairs: 0, unfinished: false },
    stopped: () => options.signal?.aborted ?? false,
    outOfTime: () => performance.now() - started > maxTime,
  };
}

/** What a run did. */
function resultOf(
  { started, clock, providers, news, behind, total }: Run,
  { rollups, checkAge }: Awaited<ReturnType<typeof readChecked>>,
): Omit<RollupResult, "failure"> {
  const old = [...behind.values()].filter(({ version }) => version !== undefined);
  const watermarks = [clock.until, ...old.map(({ watermark }) => watermark)];
  return {
    ...total,
    news: news.length,
    providers,
    small: Math.max(0, providers - rollups - (behind.size - old.length)),
    checkAge,
    waitsFor: clock.waitsFor,
    behind: behind.size,
    duration: performance.now() - started,
    lag: fromDatetime(clock.now) - Math.min(...watermarks.map(fromDatetime)),
  };
}
