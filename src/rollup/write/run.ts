/**
 * A rollup run: finds the providers with news, brings their rollups up to date, and checks
 * some of the rollups against the ledger. A run is idempotent. It may be killed at any point, and
 * runs may overlap.
 */
import type { Knex } from "knex";
import { DAY, fromDatetime, LAST_INSTANT } from "../../db/datetime.ts";
import type { RollupRun } from "../../telemetry/metrics/runs.ts";
import { beginBuild, buildStep } from "./build.ts";
import { purge, purgeFormats } from "./purge.ts";
import { refresh } from "./refresh.ts";
import { futureWatermark, type Repair } from "./repair.ts";
import { checkRollups, readCheckAge } from "./run/checks.ts";
import { type Clock, readClock, type Wait } from "./run/clock.ts";
import { createHeartbeat, type Heartbeat } from "./run/heartbeat.ts";
import { findNews, type News, type NewsOptions } from "./run/news.ts";
import { readProviders } from "./run/pages.ts";
import { isProviderSpecific, withRetry } from "./run/retry.ts";
import { runTasks } from "./run/tasks.ts";

/** The default margin, in ms. */
export const MARGIN = 900_000;
/** The default of `checkPeriod`, in ms. */
export const CHECK_PERIOD = DAY;
/** The default of `concurrency`. */
export const CONCURRENCY = 4;

/** How to run. Times are in ms. */
export interface RollupOptions extends Omit<NewsOptions, "all"> {
  /**
   * The distance of the watermark from now, in ms: how long a writer's transaction may be open. At least
   * a second, unless nobody writes.
   */
  readonly margin: number;
  /** Whether the watermark also waits for older transactions and statements. Default: no. */
  readonly seesTransactions?: boolean;
  /** Default databases of sessions that it does not wait for, where no lock tells who writes the ledger. */
  readonly ignoredSchemas?: readonly string[];
  /** The heartbeat of several runs, which is written at most once a second. Default: one of its own. */
  readonly heartbeat?: Heartbeat;
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
  /** Called with each difference from the ledger that was found and removed. */
  readonly repaired?: (repair: Repair) => void;
  /** Called at the end, also if some providers failed. */
  readonly finished?: (result: RollupResult) => unknown;
}

/** The progress of a run. */
export interface RollupProgress {
  /** The number of providers done. */
  readonly done: number;
  /** The number of providers in all. */
  readonly providers: number;
  /** The number of charges added so far. */
  readonly charges: number;
  /** The latest step of a build; undefined if there is none. */
  readonly building: BuildProgress | undefined;
}

/** How far a build has come. */
export interface BuildProgress {
  /** The event time up to which it has come. */
  readonly at: string;
  /** The number of charges, starts and ends of rentals that are left, about. */
  readonly rowsLeft: number;
}

/** What a run did, also what its metrics do not tell. */
export interface RollupResult extends RollupRun {
  /** The number of providers that had news. */
  readonly news: number;
  /** The number of providers without a rollup that are too small for one. */
  readonly small: number;
  /** The number of rollups of which a slice was compared with the ledger. */
  readonly checked: number;
  /** The number of differences that were found and removed. */
  readonly repairs: number;
  /** Whether there are builds to go on with at once. */
  readonly unfinished: boolean;
  /** What holds the watermark back, if anything does. */
  readonly waitsFor: Wait | undefined;
}

/**
 * Brings the rollups of all providers up to date.
 *
 * @throws AggregateError with one error per provider that failed for a reason of its own, after all
 * other providers are up to date; the driver's error if the database is unavailable
 */
export async function rollUp(database: Knex, options: RollupOptions): Promise<RollupResult> {
  const started = performance.now();
  const { margin, concurrency = CONCURRENCY, rebuild = false, maxTime = Infinity } = options;
  const { heartbeat = createHeartbeat(), small = new Map() } = options;
  await heartbeat(database);
  const { seesTransactions = false, ignoredSchemas } = options;
  const clock = await readClock(database, margin, seesTransactions, ignoredSchemas);
  const ids = await readProviders(database);
  const news = await findNews(database, ids, clock, { ...options, small, all: rebuild });
  const behind = new Map(news.map((found) => [found.provider, found]));
  const errors: Error[] = [];
  const total = { charges: 0, repairs: 0, unfinished: false };
  const outOfTime = () => performance.now() - started > maxTime;
  const stopped = () => options.signal?.aborted ?? false;
  const repaired = (repair: Repair) => {
    total.repairs++;
    options.repaired?.(repair);
  };
  const context: ProviderWork = {
    database,
    clock,
    rebuild,
    repaired,
    stopped: () => stopped() || outOfTime(),
    added: (charges, building) => {
      total.charges += charges;
      const done = ids.length - behind.size;
      options.report?.({ done, providers: ids.length, charges: total.charges, building });
    },
  };
  /** Runs work for one provider, whose own errors do not stop the run. */
  const attempt = async (provider: string, work: () => Promise<void>) => {
    try {
      await work();
    } catch (cause) {
      if (!isProviderSpecific(cause)) throw cause;
      const { message, sqlMessage = message } = cause;
      errors.push(new Error(`provider ${provider}: ${sqlMessage}`, { cause }));
    }
  };

  const { refreshes = [], builds = [] } = Object.groupBy(news, (found) =>
    found.version && !found.building && !found.ahead && !rebuild ? "refreshes" : "builds",
  );
  const refreshOne = (found: News) =>
    attempt(found.provider, async () => {
      if (await refreshProvider(found, context)) behind.delete(found.provider);
      else builds.push(found);
    });
  await runTasks(refreshes, concurrency, refreshOne, stopped);
  // Builds come last, new ones first: a long one takes its turn after everyone else.
  builds.sort((left, right) => Number(left.building) - Number(right.building));
  const buildOne = (found: News) =>
    attempt(found.provider, async () => {
      if (await buildProvider(found, context)) behind.delete(found.provider);
      else total.unfinished = true;
    });
  await runTasks(builds, concurrency, buildOne, stopped);
  const period = options.checkPeriod ?? CHECK_PERIOD;
  const checked = await checkRollups(database, {
    concurrency,
    repaired,
    attempt,
    stopped,
    outOfTime,
    period,
    build: (found) => buildProvider(found, context),
  });
  await purgeFormats(database);
  const old = [...behind.values()].filter(({ version }) => version !== undefined);
  const watermarks = [clock.until, ...old.map(({ watermark }) => watermark)];
  const result = {
    providers: ids.length,
    news: news.length,
    small: small.size,
    checked,
    checkAge: await readCheckAge(database, period),
    waitsFor: clock.waitsFor,
    ...total,
    behind: behind.size,
    duration: performance.now() - started,
    lag: fromDatetime(clock.now) - Math.min(...watermarks.map(fromDatetime)),
  };
  options.finished?.(result);
  if (errors.length > 0) {
    throw new AggregateError(errors, errors.map(({ message }) => message).join("\n"));
  }
  return result;
}

/** What the work on a provider needs. */
interface ProviderWork {
  readonly database: Knex;
  readonly clock: Clock;
  readonly rebuild: boolean;
  readonly added: (charges: number, building?: BuildProgress) => void;
  readonly repaired: (repair: Repair) => void;
  readonly stopped: () => boolean;
}

/** Refreshes a rollup. Resolves to false if it needs a build. */
async function refreshProvider(
  { provider }: News,
  { database, clock, added, repaired }: ProviderWork,
): Promise<boolean> {
  const result = await withRetry(() => refresh(database, provider, clock.until, { repaired }));
  if (typeof result === "string") return false;
  added(result.charges);
  return true;
}

/** Builds until the build is complete or the time is up. Resolves to false if there is more to do. */
async function buildProvider(
  {
    provider,
    version,
    watermark = "",
    ahead,
    building,
  }: Pick<News, "provider" | "version"> & Partial<News>,
  { database, clock, rebuild, added, repaired, stopped }: ProviderWork,
): Promise<boolean> {
  const begun = await withRetry(() =>
    beginBuild(database, provider, clock.until, version, rebuild),
  );
  if (!begun) return true;
  if (ahead && !building) repaired(futureWatermark(provider, watermark, LAST_INSTANT));
  for (;;) {
    const step = await withRetry(() => buildStep(database, provider, clock.until));
    if (step) added(step.charges, step);
    if (step === undefined || step.done) break;
    if (stopped()) return false;
  }
  await withRetry(() => purge(database, provider));
  return true;
}
