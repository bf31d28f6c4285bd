/** Reads what one provider earned in a period, as a whole. Nothing is cached: a page asks about each provider once. */
import type { Question } from "../../rollup/read/ask.ts";
import type { Facts } from "../../rollup/read/facts.ts";
import type { Totals } from "../breakdown/totals.ts";
import type { Period } from "../period.ts";
import { periodQuestion } from "../period-question.ts";
import { earnedStatements } from "./queries.ts";

/** What a row is made of. Amounts are decimal text, "" for none. */
export interface Earned {
  readonly totals: Totals;
  readonly completedPayouts: string;
  readonly otherPayouts: string;
  readonly balance: string;
}

/** The question for what a provider earned, given the facts. */
export function earnedBy(provider: string, period: Period, facts: Facts): Question<Earned> {
  return periodQuestion(provider, period, facts, earnedStatements, (rows, totals) => ({
    totals: totals.total(),
    completedPayouts: rows.payouts[0]?.completed ?? "",
    otherPayouts: rows.payouts[0]?.other ?? "",
    balance: rows.confirmed[0]?.balance ?? "",
  }));
}
