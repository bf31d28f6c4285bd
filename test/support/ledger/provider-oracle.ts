/** The expected row of a provider among all: its rows filtered and summed, as the comments of the proto file define. */

import { type ExpectedPeriod, expectedBreakdown } from "./breakdown-oracle.ts";
import { sum, usd } from "./json-figures.ts";
import type { Ledger, Payout } from "./ledger.ts";

/** The row at `now` (ISO 8601), as protobuf JSON, without the name and the instant of its snapshot. */
export function expectedRow(ledger: Ledger, period: ExpectedPeriod, now: string) {
  const isIn = (at: string) => at >= period.start && at <= period.end && at <= now;
  const { totalRevenue, refunds, platformFees, earnings, rentedHours } = expectedBreakdown(
    ledger,
    period,
    now,
    "UTC",
  );
  const paid = ledger.payouts.filter(({ paidAt }) => isIn(paidAt));
  const amountOf = (payouts: readonly Payout[]) => usd(sum(payouts.map(({ amount }) => amount)));
  return {
    providerId: String(ledger.provider),
    grossRevenue: totalRevenue,
    ...{ refunds, platformFees, earnings, rentedHours },
    charges: ledger.charges.filter(({ at }) => isIn(at)).length,
    completedPayouts: amountOf(paid.filter(({ status }) => status === "Completed")),
    otherPayouts: amountOf(paid.filter(({ status }) => status !== "Completed")),
    availableBalance: usd(ledger.balance ?? 0n),
  };
}
