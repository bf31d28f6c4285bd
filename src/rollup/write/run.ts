/**
 * A rollup run: brings the rollup of every provider up to date, one provider at a time. A run is
 * idempotent. It may be killed at any point, and runs may overlap.
 */
import type { Knex } from "knex";
import { fromDatetime, toDatetime } from "../../db/datetime.ts";
import { END } from "../timeline.ts";
import { beginBuild, buildSegment, isBuilding } from "./build.ts";
import { purge } from "./purge.ts";
import { refresh } from "./refresh.ts";
import { isProviderSpecific, withRetry } from "./retry.ts";
import { segmentSize } from "./segment.ts";

export interface RollupOptions {
  /** The distance of the watermark from now, in ms: how long a writer's transaction may be open. */
  readonly margin: number;
  /** Builds every rollup again. Queries use the old one until the new one is complete. */
  readonly rebuild?: boolean;
  /** Stops the run after the current step. */
  readonly signal?: AbortSignal;
  /** Called after each step. */
  readonly report?: (progress: RollupProgress) => void;
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

/**
 * Brings the rollups of all providers up to date.
 *
 * @returns the number of providers, and the number of charges added
 * @throws AggregateError with one error per provider that failed for a reason of its own, after all
 * other providers are up to date; the driver's error if the database is unavailable
 */
export async function rollUp(
  database: Knex,
  options: RollupOptions,
): Promise<{ readonly providers: number; readonly charges: number }> {
  const ids: string[] = (await database("providers").orderBy("id").pluck("id")).map(String);
  const errors: Error[] = [];
  let charges = 0;
  for (const [done, provider] of ids.entries()) {
    try {
      charges += await rollUpProvider(database, provider, options, (count, building) =>
        options.report?.({ done, providers: ids.length, charges: charges + count, building }),
      );
    } catch (cause) {
      if (!isProviderSpecific(cause)) throw cause;
      const { message, sqlMessage = message } = cause;
      errors.push(new Error(`provider ${provider}: ${sqlMessage}`, { cause }));
    }
    if (options.signal?.aborted) break;
  }
  if (errors.length > 0) {
    throw new AggregateError(errors, errors.map(({ message }) => message).join("\n"));
  }
  return { providers: ids.length, charges };
}

/** Resolves to the number of charges added. */
async function rollUpProvider(
  database: Knex,
  provider: string,
  { margin, rebuild = false, signal }: RollupOptions,
  report: (charges: number, building?: string) => void,
): Promise<number> {
  let charges = 0;
  const watermark = await instantBeforeNow(database, margin);
  const size = await segmentSize(database, provider);
  const refreshOnce = async () => {
    const added = await withRetry(() => refresh(database, provider, watermark, size));
    if (added !== "build") charges += added;
    report(charges);
    return added !== "build";
  };
  if (!rebuild) {
    const refreshed = await refreshOnce();
    // A killed build is resumed, even if it was a requested rebuild.
    if (refreshed && !(await isBuilding(database, provider))) {
      // An earlier run may have been killed before its purge.
      await withRetry(() => purge(database, provider));
      return charges;
    }
  }
  const build = await withRetry(() => beginBuild(database, provider, watermark, rebuild));
  for (;;) {
    const step = await withRetry(() => buildSegment(database, build, size));
    if (step === undefined) break;
    charges += step.charges;
    report(charges, step.at);
    if (step.at === END) break;
    if (signal?.aborted) return charges;
  }
  // A resumed build has the watermark of the run that began it.
  if (build.watermark !== watermark) await refreshOnce();
  await withRetry(() => purge(database, provider));
  return charges;
}

/** The instant `margin` ms before now, by the database's clock, which also sets `recorded_at`. */
async function instantBeforeNow(database: Knex, margin: number): Promise<string> {
  const [rows] = await database.raw("SELECT UTC_TIMESTAMP(3) AS now");
  return toDatetime(fromDatetime(rows[0].now) - margin);
}
