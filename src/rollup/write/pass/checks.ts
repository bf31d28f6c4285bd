/** The checks of a pass: those that are due, and a few more while there is nothing else to do. */
import type { Knex } from "knex";
import { fromDatetime } from "../../../db/datetime.ts";
import { checkSlice } from "../check.ts";
import type { Difference } from "../difference.ts";
import { segmentSize } from "../ledger/segment.ts";
import { purge } from "../purge.ts";
import { withRetry } from "../retry.ts";
import type { Clock } from "./clock.ts";
import { findChecks } from "./news.ts";
import { runTasks } from "./tasks.ts";

/**
 * How long a pass checks rollups that are not due yet, in ms. So a small installation is compared
 * whole in every pass, and a large one loses next to nothing.
 */
const EARLY_CHECKS = 30;

/** What the checks of a pass need. */
interface Checks {
  readonly clock: Clock;
  /** The time within which a whole rollup is compared, in ms. */
  readonly period: number;
  readonly concurrency: number;
  readonly repaired: (difference: Difference) => void;
  readonly stopped: () => boolean;
  /** Runs work for one provider, whose own errors do not stop the pass. */
  readonly attempt: (provider: string, work: () => Promise<void>) => Promise<void>;
  /** Builds a provider's rollup again, because there is too much to repair. */
  readonly build: (provider: string) => Promise<unknown>;
}

/** Checks rollups. Resolves to the number of rollups of which a slice was compared. */
export async function checkRollups(database: Knex, checks: Checks): Promise<number> {
  const { clock, period, concurrency, stopped } = checks;
  const started = performance.now();
  const seen = new Set<string>();
  let checked = 0;
  const check = ({ provider }: { readonly provider: string }) =>
    checks.attempt(provider, async () => {
      await checkProvider(database, provider, checks);
      checked++;
    });
  for (;;) {
    const found = await findChecks(database, clock, period);
    const left = found.filter(({ provider }) => !seen.has(provider));
    for (const { provider } of left) seen.add(provider);
    const due = left.filter((candidate) => candidate.due);
    await runTasks(due, concurrency, check, stopped);
    if (due.length > 0 && !stopped()) continue;
    const early = left.filter((candidate) => !candidate.due);
    const enough = () => stopped() || performance.now() - started > EARLY_CHECKS;
    await runTasks(early, 1, check, enough);
    return checked;
  }
}

/** Compares the slices of a provider that are due, and deletes what a killed run has left. */
async function checkProvider(database: Knex, provider: string, checks: Checks): Promise<void> {
  const { clock, period, repaired, stopped } = checks;
  const size = await segmentSize(database, provider);
  const options = { size, period, repaired, now: fromDatetime(clock.now) };
  await purge(database, provider);
  for (let compared = 0; ; compared++) {
    const result = await withRetry(() => checkSlice(database, provider, { ...options, compared }));
    if (result === "build") await checks.build(provider);
    if (result !== "more" || stopped()) return;
  }
}
