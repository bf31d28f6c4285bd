/** What a run does for a provider: refreshes, builds and checks its rollup. */
import type { Knex } from "knex";
import { beginBuild, buildStep } from "../build.ts";
import { checkSlice } from "../check.ts";
import { purge } from "../purge.ts";
import { refresh } from "../refresh.ts";
import { type Repair, rebuildOf } from "../repair.ts";
import type { Clock } from "./clock.ts";
import type { News } from "./news.ts";

/** The progress of a run. */
export interface RollupProgress {
  /** The number of providers done. */
  readonly done: number;
  /** The number of providers in all. */
  readonly providers: number;
  /** The number of charges added so far. */
  readonly charges: number;
  /** The charges, starts and ends of rentals that are left of the build at work, about; 0 if there is none. */
  readonly rowsLeft: number;
  /** What the latest step has put right; undefined if nothing differed. */
  readonly repair: Repair | undefined;
}

/** A run at work. */
export interface Run {
  readonly database: Knex;
  readonly options: {
    readonly rebuild?: boolean;
    readonly report?: (progress: RollupProgress) => void;
  };
  /** When it began, in ms of the process. */
  readonly started: number;
  readonly clock: Clock;
  /** The time within which a rollup is compared, in ms. */
  readonly period: number;
  /** The number of providers. */
  readonly providers: number;
  /** The providers with news. */
  readonly news: readonly News[];
  /** Those of them that are not up to date yet. */
  readonly behind: Map<string, News>;
  /** What it has done so far, and found. */
  readonly total: { charges: number; checked: number; repairs: number; unfinished: boolean };
  /** Whether the command ends. */
  readonly stopped: () => boolean;
  /** Whether the time of the run is up. */
  readonly outOfTime: () => boolean;
}

/** Counts what a step has added and put right, and reports it. */
function count(run: Run, charges: number, repair?: Repair, rowsLeft = 0) {
  const { options, providers, behind, total } = run;
  total.charges += charges;
  if (repair) total.repairs++;
  const done = providers - behind.size;
  options.report?.({ done, providers, charges: total.charges, rowsLeft, repair });
}

/** Refreshes a rollup. Resolves to false if it needs a build. */
export async function refreshProvider(run: Run, { provider }: News): Promise<boolean> {
  const { charges, repair, rebuild } = await refresh(run.database, provider, run.clock.until);
  if (!rebuild) run.behind.delete(provider);
  count(run, charges, repair);
  return !rebuild;
}

/** Builds a rollup in place of a version, if there is one, until the build is complete or the time is up. */
export async function buildProvider(
  run: Run,
  found: Pick<News, "provider" | "version"> & Partial<News>,
): Promise<void> {
  const { database, options, clock, behind, total, stopped, outOfTime } = run;
  const { provider, version, watermark, ahead, building } = found;
  const { rebuild = false } = options;
  if (await beginBuild(database, provider, clock.until, version, rebuild)) {
    if (ahead && !building) {
      count(run, 0, rebuildOf(provider, `the watermark ${watermark} lay in the future`));
    }
    for (;;) {
      const step = await buildStep(database, provider, clock.until);
      if (step) count(run, step.charges, undefined, step.rowsLeft);
      if (step === undefined || step.done) break;
      if (stopped() || outOfTime()) {
        total.unfinished = true;
        return;
      }
    }
    await purge(database, provider);
  }
  behind.delete(provider);
}

/** Compares slices until none is due or the time is up. */
export async function checkProvider(run: Run, { provider }: Pick<News, "provider">): Promise<void> {
  const { database, period, total, stopped, outOfTime } = run;
  for (;;) {
    const { more, repair, outdated } = await checkSlice(database, provider, { period });
    count(run, 0, repair);
    if (outdated !== undefined) await buildProvider(run, { provider, version: outdated });
    if (!more || stopped() || outOfTime()) break;
  }
  total.checked++;
}
