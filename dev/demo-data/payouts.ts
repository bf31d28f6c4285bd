/** The demo's payouts: earnings of a month are paid out on the 5th of the next. */
import { DAY } from "../duration.ts";
import type { Charge } from "./charges.ts";

/** A payout, in epoch ms and cents. */
export interface Payout {
  readonly paidAt: number;
  readonly cents: number;
  readonly method: string;
  readonly status: "Completed" | "Pending";
}

/** The payouts of a provider and its wallet's balance in cents. */
export interface Settlement {
  readonly payouts: readonly Payout[];
  readonly balance: number;
}

/**
 * Pays out a provider's earnings month by month, with its methods in rotation. Half of the
 * remaining balance was requested yesterday and is pending.
 *
 * @param now epoch ms
 */
export function settle(
  charges: readonly Charge[],
  methods: readonly string[],
  now: number,
): Settlement {
  const grossByMonth = new Map<number, number>();
  for (const { chargedAt, cents } of charges) {
    const charged = new Date(chargedAt);
    const paidAt = Date.UTC(charged.getUTCFullYear(), charged.getUTCMonth() + 1, 5, 9, 30);
    grossByMonth.set(paidAt, (grossByMonth.get(paidAt) ?? 0) + cents);
  }
  const payouts: Payout[] = [];
  let balance = 0;
  const pay = (paidAt: number, cents: number, status: Payout["status"]) => {
    const method = methods[payouts.length % methods.length];
    if (method === undefined || cents <= 0) return;
    payouts.push({ paidAt, cents, method, status });
    balance -= cents;
  };
  for (const [paidAt, gross] of [...grossByMonth].sort(([a], [b]) => a - b)) {
    const earned = gross - Math.round(gross / 10);
    balance += earned;
    if (paidAt < now - DAY) pay(paidAt, earned, "Completed");
  }
  pay(now - DAY, Math.floor(balance / 2), "Pending");
  return { payouts, balance };
}
