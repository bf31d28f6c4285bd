/**
 * Reads the rows and the sums of a breakdown. The sums of owners at a mark are cached by the version of the rollup:
 * those that are in the cache need not be read.
 */
import { LAST_INSTANT } from "../../db/datetime.ts";
import { BEFORE_ALL } from "../../db/sql-time.ts";
import { type Question, question, rawQuestion } from "../../rollup/read/ask.ts";
import { boundariesOf, marksOf } from "../../rollup/read/boundaries.ts";
import { createSumsCache } from "../../rollup/read/cache.ts";
import { compareSums } from "../../rollup/read/damage.ts";
import type { Facts } from "../../rollup/read/facts.ts";
import { countCharges, sumsOf } from "../../rollup/stored-sums.ts";
import { NO_SUMS, plus } from "../../rollup/sums.ts";
import { boundsOf, type Period } from "../period.ts";
import { edgesOf } from "../period-sums.ts";
import { breakdowns, rawBreakdown } from "./queries.ts";
import {
  type OwnerSums,
  ownerSums,
  type Parts,
  stretchOf,
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

/** Creates a reader with an empty cache. `observeCache` is called with each lookup in the cache. */
export function createBreakdownReader(
  observeCache: (hit: boolean) => void = () => {},
): BreakdownFor {
  const cache = createSumsCache<readonly OwnerSums[]>((sums) => sums.length, MAX_CACHED_ROWS);

  return (provider, period, facts) => {
    const { now, rollup } = facts;
    const stretch = stretchOf(period, now);
    const { from, until } = stretch;
    const bounds = boundsOf(period, now);
    const values = { provider, ...bounds, from: String(from), until: String(until) };
    const breakdown = (rows: Rows, parts: Parts, uncoveredCharges: number) => ({
      value: { rows, totals: totalsOf(parts, stretch), period },
      uncoveredCharges,
    });
    if (rollup === undefined) {
      return rawQuestion(rawBreakdown, values, (rows) => {
        const { charges, rentals, open } = rows;
        const parts = { atFirst: [], atLast: [], charges, rentals, open };
        return breakdown(rows, parts, countCharges(charges));
      });
    }

    const end = Math.min(period.end, now);
    const { watermark, slot } = rollup;
    const boundaries = boundariesOf(watermark, end, marksOf(rollup.leaf, period.start, end));
    const { first, last } = boundaries;
    const sumsAt = new Map([[BEFORE_ALL, NOTHING]]);
    for (const at of [first, last]) {
      const known = cache.get(provider, rollup, at);
      if (known !== undefined) sumsAt.set(at, known);
    }
    const missing = [...new Set([first, last])].filter((at) => !sumsAt.has(at));
    observeCache(missing.length === 0);
    const [mark = "", other = ""] = missing.map((at) => (at > watermark ? LAST_INSTANT : at));
    const all = { ...values, watermark, slot, ...edgesOf(boundaries, bounds), mark, other };
    const statement = breakdowns[missing.length as 0 | 1 | 2];
    return question(rollup, statement, all, (rows) => {
      const { sums, total, sumsOfOther, totalOfOther } = rows;
      const found = [ownerSums(sums), ownerSums(sumsOfOther)];
      const totals = [total[0], totalOfOther[0]];
      compareSums(
        missing.map((at, nth) => ({
          at,
          parts: (found[nth] ?? []).map(({ sums }) => sums).reduce(plus, NO_SUMS),
          total: sumsOf(totals[nth] ?? {}),
        })),
      );
      for (const [nth, at] of missing.entries()) {
        cache.put(provider, rollup, at, found[nth] ?? NOTHING);
        sumsAt.set(at, found[nth] ?? NOTHING);
      }
      const { head, tail, uncovered, startsAtEdges, endsAtEdges, written, ending, open } = rows;
      const parts = {
        atFirst: sumsAt.get(first) ?? NOTHING,
        atLast: sumsAt.get(last) ?? NOTHING,
        charges: [...head, ...tail, ...uncovered],
        rentals: [...startsAtEdges, ...endsAtEdges, ...written, ...ending],
        open,
      };
      const ofTail = last > watermark ? countCharges(tail) : 0;
      return breakdown(rows, parts, countCharges(uncovered) + ofTail);
    });
  };
}

/** The sums of owners before everything. */
const NOTHING: readonly OwnerSums[] = [];
