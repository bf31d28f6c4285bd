/**
 * Reads the rows and the sums of a breakdown. The sums of owners at its two boundaries are cached by the version of
 * the rollup: then they need not be read.
 */
import { type Question, question, rawQuestion } from "../../rollup/read/ask.ts";
import { countUncovered } from "../../rollup/read/boundaries.ts";
import { createSumsCache } from "../../rollup/read/cache.ts";
import { compareSums } from "../../rollup/read/damage.ts";
import type { Facts } from "../../rollup/read/facts.ts";
import { countCharges, sumsOf } from "../../rollup/stored-sums.ts";
import { NO_SUMS, plus } from "../../rollup/sums.ts";
import type { Period } from "../period.ts";
import { edgesOf, parametersOf } from "../period-parameters.ts";
import { cachedBreakdown, fullBreakdown, rawBreakdown } from "./queries.ts";
import {
  completing,
  type OwnerSums,
  ownerSums,
  type Parts,
  type TotalsByOwner,
  totalsOf,
} from "./totals.ts";

/**
 * The maximum size of the cache, in rows of about 400 bytes, one for each owner: 100 MB. Ten thousand small
 * providers fit in.
 */
const MAX_CACHED_ROWS = 250_000;

type Rows = Pick<Awaited<ReturnType<typeof rawBreakdown.run>>["rows"], "servers" | "instances">;

/** What a breakdown is made of. */
export interface Breakdown {
  readonly rows: Rows;
  readonly totals: TotalsByOwner;
  readonly period: Period;
}

/** Creates the question for the breakdown of a provider, given the facts. */
type BreakdownFor = (provider: string, period: Period, facts: Facts) => Question<Breakdown>;

/** The sums of owners at the first boundary of a period, and at the last one. */
type StoredSums = Pick<Parts, "atFirst" | "atLast">;
const NO_STORED_SUMS: StoredSums = { atFirst: [], atLast: [] };

/** Creates a reader with an empty cache. `observeCache` is called with each lookup in the cache. */
export function createBreakdownReader(observeCache?: (hit: boolean) => void): BreakdownFor {
  const cache = createSumsCache<StoredSums>(
    ({ atFirst, atLast }) => atFirst.length + atLast.length,
    MAX_CACHED_ROWS,
    observeCache,
  );
  return (provider, period, { now, rollup }) => {
    const { stretch, values } = parametersOf(provider, period, now);
    const breakdown = (rows: Rows, parts: Parts): Breakdown => ({
      rows,
      totals: totalsOf(parts, stretch),
      period,
    });
    if (rollup === undefined) {
      return rawQuestion({
        statement: rawBreakdown,
        values,
        answer: (rows) => ({
          value: breakdown(rows, { ...NO_STORED_SUMS, ...rows }),
          uncoveredCharges: countCharges(rows.charges),
        }),
      });
    }
    const edges = edgesOf(period, now, rollup);
    const { first, last } = edges.boundaries;
    return question({
      rollup,
      statement: fullBreakdown,
      values: { ...values, ...edges.values },
      stored: {
        cache,
        place: `${first} ${last}`,
        cached: cachedBreakdown,
        sumsOf(rows) {
          const [atFirst, atLast] = [ownerSums(rows.atFirst), ownerSums(rows.atLast)];
          compareSums([
            { at: first, parts: sum(atFirst), total: sumsOf(rows.totalAtFirst[0] ?? {}) },
            { at: last, parts: sum(atLast), total: sumsOf(rows.totalAtLast[0] ?? {}) },
          ]);
          return { atFirst, atLast };
        },
      },
      answer: (rows, sums = NO_STORED_SUMS) => ({
        value: breakdown(rows, { ...sums, ...completing(rows) }),
        uncoveredCharges: countUncovered(rows, edges.boundaries, rollup.watermark),
      }),
    });
  };
}

const sum = (owners: readonly OwnerSums[]) => owners.map(({ sums }) => sums).reduce(plus, NO_SUMS);
