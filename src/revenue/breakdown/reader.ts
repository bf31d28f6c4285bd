/**
 * Reads the rows and the sums of a breakdown. The sums of owners at its two boundaries are cached by the version of
 * the rollup: then they need not be read.
 */
import type { Question } from "../../rollup/read/ask.ts";
import { createSumsCache } from "../../rollup/read/cache.ts";
import type { Facts } from "../../rollup/read/facts.ts";
import type { Period } from "../period.ts";
import { periodQuestion } from "../period-question.ts";
import { breakdownStatements } from "./queries.ts";
import type { StoredSums, TotalsByOwner } from "./totals.ts";

/**
 * The maximum size of the cache, in rows of about 400 bytes, one for each owner: 100 MB. Ten thousand small
 * providers fit in.
 */
const MAX_CACHED_ROWS = 250_000;

/** What a breakdown is made of. */
export interface Breakdown {
  readonly rows: Awaited<ReturnType<typeof breakdownStatements.full.run>>["rows"];
  readonly totals: TotalsByOwner;
  readonly period: Period;
}

/** Creates a reader with an empty cache. `observeCache` is called with each lookup in the cache. */
export function createBreakdownReader(observeCache?: (hit: boolean) => void) {
  const cache = createSumsCache<StoredSums>(
    ({ atFirst, atLast }) => atFirst.length + atLast.length,
    MAX_CACHED_ROWS,
    observeCache,
  );
  /** Makes the question for the breakdown of a provider, given the facts. */
  return (provider: string, period: Period, facts: Facts): Question<Breakdown> =>
    periodQuestion(
      ...([provider, period, facts, breakdownStatements] as const),
      (rows, totals) => ({ rows, totals, period }),
      cache,
    );
}
