/** Reads what one provider earned in a period, as a whole. Nothing is cached: a page asks about each provider once. */
import { type Question, question, rawQuestion } from "../../rollup/read/ask.ts";
import { countUncovered } from "../../rollup/read/boundaries.ts";
import { compareSums } from "../../rollup/read/damage.ts";
import type { Facts } from "../../rollup/read/facts.ts";
import { countCharges, type SumsRow, sumsOf } from "../../rollup/stored-sums.ts";
import { completing, ownerSums, type Parts, type Totals, totalsOf } from "../breakdown/totals.ts";
import type { Period } from "../period.ts";
import { edgesOf, parametersOf } from "../period-parameters.ts";
import { providerRevenue, rawProviderRevenue } from "./queries.ts";

/** What a row is made of. Amounts are decimal text, "" for none. */
export interface Earned {
  readonly totals: Totals;
  readonly completedPayouts: string;
  readonly otherPayouts: string;
  readonly balance: string;
}

type Wallets = readonly { readonly balance: string }[];

/** What the statements have beside the totals. */
interface Rest {
  readonly payouts: readonly { readonly completed: string; readonly other: string }[];
}

/** The question for what a provider earned, given the facts. */
export function earnedBy(
  provider: string,
  period: Period,
  { now, rollup }: Facts,
): Question<Earned> {
  const { stretch, values } = parametersOf(provider, period, now);
  const earned = (parts: Parts, { payouts: [payouts] }: Rest, [wallet]: Wallets): Earned => ({
    totals: totalsOf(parts, stretch).total(),
    completedPayouts: payouts?.completed ?? "",
    otherPayouts: payouts?.other ?? "",
    balance: wallet?.balance ?? "",
  });
  if (rollup === undefined) {
    return rawQuestion({
      statement: rawProviderRevenue,
      values,
      answer: (rows) => ({
        value: earned({ atFirst: [], atLast: [], ...rows }, rows, rows.wallet),
        uncoveredCharges: countCharges(rows.charges),
      }),
    });
  }
  const { boundaries, values: edges } = edgesOf(period, now, rollup);
  return question({
    rollup,
    statement: providerRevenue,
    values: { ...values, ...edges },
    answer(rows) {
      const totalOf = ([row = {}]: readonly SumsRow[]) => sumsOf(row);
      const { first, last } = boundaries;
      compareSums([
        { at: first, parts: totalOf(rows.ownersAtFirst), total: totalOf(rows.atFirst) },
        { at: last, parts: totalOf(rows.ownersAtLast), total: totalOf(rows.atLast) },
      ]);
      const [atFirst, atLast] = [ownerSums(rows.atFirst), ownerSums(rows.atLast)];
      return {
        value: earned({ atFirst, atLast, ...completing(rows) }, rows, rows.confirmed),
        uncoveredCharges: countUncovered(rows, boundaries, rollup.watermark),
      };
    },
  });
}
