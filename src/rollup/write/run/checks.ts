/** The checks of a run: those that are due, and a few more while there is nothing else to do. */
import type { Knex } from "knex";
import { purge } from "../build.ts";
import { checkSlice } from "../check.ts";
import type { Repair } from "../repair.ts";
import { type DueCheck, findChecks } from "./news.ts";
import { withRetry } from "./retry.ts";
import { runTasks } from "./tasks.ts";

/**
 * How long a run checks rollups that are not due yet, in ms, if there are no more than `FEW`. If there
 * are more, it checks one of them.
 */
const EARLY_CHECKS = 30;
const FEW = 10;

/** What the checks of a run need. */
interface Checks {
  /** The time within which a whole rollup is compared, in ms. */
  readonly period: number;
  readonly concurrency: number;
  readonly repaired: (repair: Repair) => void;
  /** Whether the command ends. */
  readonly stopped: () => boolean;
  /** Whether the time of the run is up. One rollup is checked even then. */
  readonly outOfTime: () => boolean;
  /** Runs work for one provider, whose own errors do not stop the run. */
  readonly attempt: (provider: string, work: () => Promise<void>) => Promise<void>;
  /** Builds a provider's rollup again: there is too much to repair, or its leaves are too long. */
  readonly build: (found: DueCheck) => Promise<unknown>;
}

/** Checks rollups. Resolves to the number of rollups of which a slice was compared. */
export async function checkRollups(database: Knex, checks: Checks): Promise<number> {
  const { period, concurrency, stopped, outOfTime } = checks;
  const started = performance.now();
  const seen = new Set<string>();
  let checked = 0;
  const enough = () => stopped() || (checked > 0 && outOfTime());
  const check = (candidate: DueCheck) =>
    checks.attempt(candidate.provider, async () => {
      await checkProvider(database, candidate, checks);
      checked++;
    });
  for (;;) {
    const found = await findChecks(database, period);
    const left = found.filter(({ provider }) => !seen.has(provider));
    for (const { provider } of left) seen.add(provider);
    const due = left.filter((candidate) => candidate.due);
    await runTasks(due, concurrency, check, enough);
    if (due.length > 0 && !enough()) continue;
    const early = left.filter((candidate) => !candidate.due);
    const isLate = () => checked > 0 && performance.now() - started > EARLY_CHECKS;
    // In any order: slices of a large rollup are always the next to come.
    const few = shuffled(early).slice(0, early.length > FEW ? 1 : FEW);
    await runTasks(few, 1, check, () => enough() || isLate());
    return checked;
  }
}

function shuffled<T>(values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, place: Math.random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ value }) => value);
}

/** Compares the slices of a provider that are due, and deletes what a killed run has left. */
async function checkProvider(
  database: Knex,
  candidate: DueCheck,
  { period, repaired, stopped, outOfTime, build }: Checks,
): Promise<void> {
  const { provider } = candidate;
  await withRetry(() => purge(database, provider));
  for (;;) {
    const result = await withRetry(() => checkSlice(database, provider, { period, repaired }));
    if (result === "build") await build(candidate);
    if (result !== "more" || stopped() || outOfTime()) return;
  }
}
