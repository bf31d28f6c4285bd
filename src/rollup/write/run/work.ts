/** What a run does for a provider: refreshes, builds and checks its rollup. */
import type { Knex } from "knex";
import { LAST_INSTANT } from "../../../db/datetime.ts";
import { type BuildStep, beginBuild, buildStep } from "../build.ts";
import { checkSlice } from "../check.ts";
import { purge } from "../purge.ts";
import { refresh } from "../refresh.ts";
import { futureWatermark, type Repair } from "../repair.ts";
import type { Clock } from "./clock.ts";
import type { News } from "./news.ts";
import { withRetry } from "./retry.ts";

/** The progress of a run. */
export interface RollupProgress {
  /** The number of providers done. */
  readonly done: number;
  /** The number of providers in all. */
  readonly providers: number;
  /** The number of charges added so far. */
  readonly charges: number;
  /** The latest step of a build; undefined if there is none. */
  readonly building: BuildStep | undefined;
}

/** A run at work. */
export interface Run {
  readonly database: Knex;
  readonly options: {
    readonly rebuild?: boolean;
    readonly report?: (progress: RollupProgress) => void;
  };
  readonly clock: Clock;
  /** The time within which a rollup is compared, in ms. */
  readonly period: number;
  /** The number of providers. */
  readonly providers: number;
  /** The providers with news that are not up to date yet. */
  readonly behind: Map<string, News>;
  readonly total: { charges: number; checked: number; repairs: number; unfinished: boolean };
  readonly repaired: (repair: Repair) => void;
  /** Whether the command ends. */
  readonly stopped: () => boolean;
  /** Whether the time of the run is up. */
  readonly outOfTime: () => boolean;
}

/** Counts what a step has added, and reports it. */
function added({ options, providers, behind, total }: Run, charges: number, step?: BuildStep) {
  total.charges += charges;
  const done = providers - behind.size;
  options.report?.({ done, providers, charges: total.charges, building: step });
}

/** Refreshes a rollup. Resolves to false if it needs a build. */
export async function refreshProvider(run: Run, { provider }: News): Promise<boolean> {
  const { database, clock, repaired } = run;
  const result = await withRetry(() => refresh(database, provider, clock.until, { repaired }));
  if (typeof result === "string") return false;
  run.behind.delete(provider);
  added(run, result.charges);
  return true;
}

/** A rollup to build: in place of a version, of none by default. */
type ToBuild = Pick<News, "provider" | "version"> & Partial<News>;

/** Builds until the build is complete or the time is up. */
export async function buildProvider(run: Run, found: ToBuild): Promise<void> {
  const { database, options, clock, behind, total, repaired, stopped, outOfTime } = run;
  const { provider, version, watermark = "", ahead, building } = found;
  const { rebuild = false } = options;
  if (await withRetry(() => beginBuild(database, provider, clock.until, version, rebuild))) {
    if (ahead && !building) repaired(futureWatermark(provider, watermark, LAST_INSTANT));
    for (;;) {
      const step = await withRetry(() => buildStep(database, provider, clock.until));
      if (step) added(run, step.charges, step);
      if (step === undefined || step.done) break;
      if (stopped() || outOfTime()) {
        total.unfinished = true;
        return;
      }
    }
    await withRetry(() => purge(database, provider));
  }
  behind.delete(provider);
}

/** Compares slices until none is due or the time is up. */
export async function checkProvider(run: Run, { provider }: Pick<News, "provider">): Promise<void> {
  const { database, period, total, repaired, stopped, outOfTime } = run;
  for (;;) {
    const checked = await withRetry(() => checkSlice(database, provider, { period, repaired }));
    if (typeof checked === "object") {
      await buildProvider(run, { provider, version: checked.outdated });
    }
    if (checked !== "more" || stopped() || outOfTime()) break;
  }
  total.checked++;
}
