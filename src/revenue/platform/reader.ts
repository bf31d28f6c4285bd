/** Reads what one provider earned in a period, as a whole. Nothing is cached: a page asks about each provider once. */
import { LAST_INSTANT } from "../../db/datetime.ts";
import { type Question, question, rawQuestion } from "../../rollup/read/ask.ts";
import { boundariesOf, marksOf } from "../../rollup/read/boundaries.ts";
import { compareSums } from "../../rollup/read/damage.ts";
import type { Facts } from "../../rollup/read/facts.ts";
import { countCharges, sumsOf } from "../../rollup/stored-sums.ts";
import { ownerSums, stretchOf, type Totals, totalsOf } from "../breakdown/totals.ts";
import { boundsOf, type Period } from "../period.ts";
import { edgesOf } from "../period-sums.ts";
import { providerRevenue, rawProviderRevenue } from "./queries.ts";

/** What a row is made of. Amounts are decimal text, "" for none. */
export interface Earned {
  readonly totals: Totals;
  readonly completedPayouts: string;
  readonly otherPayouts: string;
  readonly balance: string;
}

/** What the statements have beside the totals. */
interface Rest {
  readonly payouts: readonly { readonly completed: string; readonly other: string }[];
}

/** The question for what a provider earned, given the facts. */
export function earnedBy(provider: string, period: Period, facts: Facts): Question<Earned> {
  const { now, rollup } = facts;
  const stretch = stretchOf(period, now);
  const bounds = boundsOf(period, now);
  const ends = { from: String(stretch.from), until: String(stretch.until) };
  const values = { provider, ...bounds, ...ends };
  const earned = (totals: Totals, { payouts: [payouts] }: Rest, balance = "") => ({
    totals,
    completedPayouts: payouts?.completed ?? "",
    otherPayouts: payouts?.other ?? "",
    balance,
  });
  if (rollup === undefined) {
    return rawQuestion(rawProviderRevenue, values, (rows) => {
      const totals = totalsOf({ atFirst: [], atLast: [], ...rows }, stretch).total();
      const value = earned(totals, rows, rows.wallet[0]?.balance);
      return { value, uncoveredCharges: countCharges(rows.charges) };
    });
  }

  const { watermark, slot, leaf } = rollup;
  const end = Math.min(period.end, now);
  const boundaries = boundariesOf(watermark, end, marksOf(leaf, period.start, end));
  const [mark = "", other = ""] = [boundaries.first, boundaries.last].map((at) =>
    at > watermark ? LAST_INSTANT : at,
  );
  const all = { ...values, watermark, slot, ...edgesOf(boundaries, bounds), mark, other };
  return question(rollup, providerRevenue, all, (rows) => {
    const { ownersAtFirst, ownersAtLast, head, tail, uncovered, open } = rows;
    const { startsAtEdges, endsAtEdges, written, ending } = rows;
    const [atFirst, atLast] = [ownerSums(rows.atFirst), ownerSums(rows.atLast)];
    compareSums([
      {
        at: boundaries.first,
        parts: sumsOf(ownersAtFirst[0] ?? {}),
        total: sumsOf(rows.atFirst[0] ?? {}),
      },
      {
        at: boundaries.last,
        parts: sumsOf(ownersAtLast[0] ?? {}),
        total: sumsOf(rows.atLast[0] ?? {}),
      },
    ]);
    const charges = [...head, ...tail, ...uncovered];
    const rentals = [...startsAtEdges, ...endsAtEdges, ...written, ...ending];
    const totals = totalsOf({ atFirst, atLast, charges, rentals, open }, stretch).total();
    const ofTail = boundaries.last > watermark ? countCharges(tail) : 0;
    return {
      value: earned(totals, rows, rows.confirmed[0]?.balance),
      uncoveredCharges: countCharges(uncovered) + ofTail,
    };
  });
}
