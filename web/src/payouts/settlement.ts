/** What payouts come to: what was paid, what is under way, what failed. */
import { timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Payout } from "../../../clients/typescript/src/index.ts";
import { totalOf } from "../amount/sums.ts";
import { dayAt } from "../instant.ts";

/** The statuses that say what became of a payout. There may be others, of which nothing is known. */
const KNOWN = ["Completed", "Pending", "Failed", "Cancelled"];
const [PAID, PENDING, FAILED] = KNOWN;
/** Of so many latest payouts, those that failed are told. */
const LATEST = 10;

/** The payouts by what became of them, each list with the latest first. */
export interface Settlement {
  /** US dollars of the current month and year, in cents. */
  readonly paidThisMonth: bigint;
  readonly paidThisYear: bigint;
  /** Payouts that are under way. */
  readonly pending: readonly Payout[];
  /** Those of the latest payouts that failed. */
  readonly failed: readonly Payout[];
  /** Payouts of the year with a status that says neither. They are counted nowhere. */
  readonly unknown: readonly Payout[];
}

/** The day of a payout. */
export function dayOf({ date }: Payout, timeZone: string): string {
  return date ? dayAt(timestampDate(date), timeZone) : "";
}

/** The payouts that were paid in the days that begin like this: a month or a year, `2026`. */
export function paidIn(start: string, payouts: readonly Payout[], timeZone: string): Payout[] {
  return payouts.filter(
    (payout) => payout.status === PAID && dayOf(payout, timeZone).startsWith(start),
  );
}

/**
 * Sorts the payouts out.
 *
 * @param payouts the latest first, with all of the current year
 * @param today the present day in the zone
 */
export function settlementOf(
  payouts: readonly Payout[],
  today: string,
  timeZone: string,
): Settlement {
  const [month, year] = [today.slice(0, 7), today.slice(0, 4)];
  // One that is dated after now is a plan.
  const paid = paidIn(year, payouts, timeZone).filter((one) => dayOf(one, timeZone) <= today);
  return {
    paidThisMonth: totalOf(paidIn(month, paid, timeZone)),
    paidThisYear: totalOf(paid),
    pending: payouts.filter(({ status }) => status === PENDING),
    failed: payouts.slice(0, LATEST).filter(({ status }) => status === FAILED),
    unknown: payouts.filter(
      (one) => !KNOWN.includes(one.status) && dayOf(one, timeZone).startsWith(year),
    ),
  };
}

/** The instant of a payout in epoch ms. */
export function paidAt({ date }: Payout): number {
  return date ? timestampMs(date) : 0;
}
