/** The checks of a pass: those that are due, and a few more while there is nothing else to do. */
import type { Knex } from "knex";
import { checkSlice } from "../check.ts";
import type { Difference } from "../difference.ts";
import { segmentSize } from "../ledger/segment.ts";
import { purge } from "../purge.ts";
import { type DueCheck, findChecks } from "./news.ts";
import { withRetry } from "./retry.ts";
import { runTasks } from "./tasks.ts";

/**
 * How long a pass checks rollups that are not due yet, in ms, if there are no more than `FEW`. So a
 * small installation is compared whole in every pass. In a large one, a pass checks one of them.
 */
const EARLY_CHECKS = 30;
const FEW = 10;

/** What the checks of a pass need. */
interface Checks {
  /** The time within which a whole rollup is compared, in ms. */
  readonly period: number;
  readonly concurrency: number;
  readonly repaired: (difference: Difference) => void;
  readonly stopped: () => boolean;
  /** Runs work for one provider, whose own errors do not stop the pass. */
  readonly attempt: (provider: string, work: () => Promise<void>) => Promise<void>;
  /** Builds a provider's rollup again, because there is too much to repair. */
  readonly build: (found: { readonly provider: string; readonly size: number }) => Promise<unknown>;
}

/** Checks rollups. Resolves to the number of rollups of which a slice was compared. */
export async function checkRollups(database: Knex, checks: Checks): Promise<number> {
  const { period, concurrency, stopped } = checks;
  const started = performance.now();
  const seen = new Set<string>();
  let checked = 0;
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
    await runTasks(due, concurrency, check, stopped);
    if (due.length > 0 && !stopped()) continue;
    const early = left.filter((candidate) => !candidate.due);
    const enough = () => stopped() || performance.now() - started > EARLY_CHECKS;
    await runTasks(early.slice(0, early.length > FEW ? 1 : FEW), 1, check, enough);
    return checked;
  }
}

/** Compares the slices of a provider that are due, and deletes what a killed run has left. */
async function checkProvider(
  database: Knex,
  { provider, now }: DueCheck,
  { period, repaired, stopped, build }: Checks,
): Promise<void> {
  const size = await segmentSize(database, provider);
  const options = { size, period, repaired, now };
  await purge(database, provider);
  for (let compared = 0; ; compared++) {
    const result = await withRetry(() => checkSlice(database, provider, { ...options, compared }));
    if (result === "build") await build({ provider, size });
    if (result !== "more" || stopped()) return;
  }
}
