/**
 * A rollup run, or pass: finds the providers with news, brings their rollups up to date, and checks
 * some of the rollups against the ledger. A run is idempotent. It may be killed at any point, and
 * runs may overlap.
 */
import type { Knex } from "knex";
import { fromDatetime } from "../../db/datetime.ts";
import { END } from "../timeline.ts";
import { beginBuild, buildSegment } from "./build.ts";
import { type Difference, ownDifference } from "./difference.ts";
import { segmentSize } from "./ledger/segment.ts";
import { checkRollups } from "./pass/checks.ts";
import { type Clock, readClock } from "./pass/clock.ts";
import { findNews, type News } from "./pass/news.ts";
import { runTasks } from "./pass/tasks.ts";
import { purge } from "./purge.ts";
import { refresh } from "./refresh.ts";
import { isProviderSpecific, withRetry } from "./retry.ts";

/** The default margin, in ms. */
export const MARGIN = 900_000;
/** The default of `checkPeriod`, in ms. */
export const CHECK_PERIOD = 86_400_000;
/** The default of `concurrency`. */
export const CONCURRENCY = 4;

export interface RollupOptions {
  /** The distance of the watermark from now, in ms: how long a writer's transaction may be open. */
  readonly margin: number;
  /** Whether the watermark also waits for older transactions. Default: no. */
  readonly seesTransactions?: boolean;
  /** The time within which every rollup is compared with the whole ledger, in ms. */
  readonly checkPeriod?: number;
  /** The number of providers to work on at once. */
  readonly concurrency?: number;
  /** Builds every rollup again. Queries use the old one until the new one is complete. */
  readonly rebuild?: boolean;
  /** How long builds and checks may go on after everything else is done, in ms. Default: no limit. */
  readonly maxTime?: number;
  /** Stops the run after the current step. */
  readonly signal?: AbortSignal;
  /** Called after each step. */
  readonly report?: (progress: RollupProgress) => void;
  /** Called with each difference from the ledger that was found and removed. */
  readonly repaired?: (difference: Difference) => void;
}

/** The progress of a run. */
export interface RollupProgress {
  /** The number of providers done. */
  readonly done: number;
  /** The number of providers in all. */
  readonly providers: number;
  /** The number of charges added so far. */
  readonly charges: number;
  /** The last checkpoint of the current build; undefined if there is none. */
  readonly building: string | undefined;
}

/** What a run did. */
export interface RollupResult {
  /** The number of providers. */
  readonly providers: number;
  /** The number of charges added. */
  readonly charges: number;
  /** The number of providers that had news. */
  readonly news: number;
  /** The number of rollups of which a slice was compared with the ledger. */
  readonly checked: number;
  /** The number of differences that were found and removed. */
  readonly repairs: number;
  /** Whether there are builds to go on with at once. */
  readonly unfinished: boolean;
  /** The start of an open transaction that holds the watermark back, in UTC. */
  readonly waitsFor: string | undefined;
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
  const clock = await readClock(database, margin, options.seesTransactions ?? false);
  const ids: string[] = (await database("providers").orderBy("id").pluck("id")).map(String);
  const news = await findNews(database, ids, clock, rebuild);
  const errors: Error[] = [];
  const total = { charges: 0, repairs: 0, unfinished: false, left: news.length };
  const outOfTime = () => performance.now() - started > maxTime;
  const stopped = () => options.signal?.aborted ?? false;
  const repaired = (difference: Difference) => {
    total.repairs++;
    options.repaired?.(difference);
  };
  const context: Context = {
    ...{ database, clock, rebuild, repaired },
    stopped: () => stopped() || outOfTime(),
    added: (charges, building) => {
      total.charges += charges;
      const done = ids.length - total.left;
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

  const builds: News[] = [];
  const refreshes = news.filter((found) => {
    const ready = found.built && !found.building && found.ahead === undefined && !rebuild;
    if (!ready) builds.push(found);
    return ready;
  });
  const refreshOne = (found: News) =>
    attempt(found.provider, async () => {
      if (await refreshProvider(found.provider, context)) total.left--;
      else builds.push(found);
    });
  await runTasks(refreshes, concurrency, refreshOne, stopped);
  // Builds come last, new ones first: a long one takes its turn after everyone else.
  builds.sort((left, right) => Number(left.building) - Number(right.building));
  const buildOne = (found: News) =>
    attempt(found.provider, async () => {
      if (await buildProvider(found, context)) total.left--;
      else total.unfinished = true;
    });
  await runTasks(builds, concurrency, buildOne, stopped);
  const checked = await checkRollups(database, {
    ...{ clock, concurrency, repaired, attempt },
    period: options.checkPeriod ?? CHECK_PERIOD,
    stopped: context.stopped,
    build: (provider) =>
      buildProvider({ provider, built: true, building: false, ahead: undefined }, context),
  });
  if (errors.length > 0) {
    throw new AggregateError(errors, errors.map(({ message }) => message).join("\n"));
  }
  return {
    ...{ providers: ids.length, news: news.length, checked, waitsFor: clock.waitsFor },
    ...{ charges: total.charges, repairs: total.repairs, unfinished: total.unfinished },
  };
}

/** What the work on a provider needs. */
interface Context {
  readonly database: Knex;
  readonly clock: Clock;
  readonly rebuild: boolean;
  readonly added: (charges: number, building?: string) => void;
  readonly repaired: (difference: Difference) => void;
  readonly stopped: () => boolean;
}

/** Resolves to false if a build is needed. */
async function refreshProvider(
  provider: string,
  { database, clock, added, repaired }: Context,
): Promise<boolean> {
  const size = await segmentSize(database, provider);
  const charges = await withRetry(() => refresh(database, provider, clock.until, size, repaired));
  if (charges === "build") return false;
  added(charges);
  return true;
}

/** Builds until the build is complete or the time is up. Resolves to false if there is more to do. */
async function buildProvider(found: News, context: Context): Promise<boolean> {
  const { provider, building, ahead } = found;
  const { database, clock, rebuild, added, repaired, stopped } = context;
  // A killed build is resumed, even if it was a requested rebuild.
  const restart = rebuild || (ahead !== undefined && !building) || (found.built && !building);
  const size = await segmentSize(database, provider);
  let build = await withRetry(() => beginBuild(database, provider, clock.until, restart));
  if (fromDatetime(build.watermark) > fromDatetime(clock.now)) {
    build = await withRetry(() => beginBuild(database, provider, clock.until, true));
  }
  if (ahead !== undefined && !building) {
    repaired(ownDifference({ provider, from: ahead, to: END }, "future watermark"));
  }
  for (;;) {
    const step = await withRetry(() => buildSegment(database, build, size));
    if (step === undefined) break;
    added(step.charges, step.at);
    if (step.at === END) break;
    if (stopped()) return false;
  }
  // A resumed build has the watermark of the run that began it.
  if (build.watermark !== clock.until) await refreshProvider(provider, context);
  await withRetry(() => purge(database, provider));
  return true;
}
