/** The expected revenue per day of a ledger: its rows filtered and summed, as the comments of the proto file define. */
import type { ExpectedPeriod } from "./breakdown-oracle.ts";
import { refundsOf, sum, tenPercent, timestamp, usd } from "./json-figures.ts";
import type { Charge, Ledger } from "./ledger.ts";

/** The most days that a period may touch. */
const MAX_DAYS = 400;

/** The days of a period at `now` (ISO 8601), as protobuf JSON; the message of the error if it has too many. */
export function expectedDaily(ledger: Ledger, { start, end }: ExpectedPeriod, now: string) {
  const first = Temporal.PlainDate.from(start.slice(0, 10));
  const { days: after } = first.until(end.slice(0, 10));
  if (after >= MAX_DAYS) {
    return `startDate: expected a period of at most 400 days, got ${after + 1} (from ${start} to ${end})`;
  }
  const charges = ledger.charges.filter(({ at }) => start <= at && at <= end && at <= now);
  const byDay = Map.groupBy(charges, ({ at }) => at.slice(0, 10));
  return {
    startDate: timestamp(start),
    endDate: timestamp(end),
    ...figures(charges),
    days: Array.from({ length: after + 1 }, (_, days) => {
      const date = first.add({ days }).toString();
      const [firstInstant, lastInstant] = [`${date}T00:00:00.000Z`, `${date}T23:59:59.999Z`];
      const inside = start <= firstInstant && lastInstant <= end;
      const partial = !(inside && lastInstant < now);
      return { date, ...figures(byDay.get(date) ?? []), partial };
    }),
  };
}

function figures(charges: readonly Charge[]) {
  const gross = sum(charges.map((charge) => charge.gross));
  const fee = tenPercent(gross);
  return {
    grossRevenue: usd(gross),
    platformFees: usd(fee),
    earnings: usd(gross - fee),
    charges: charges.length,
    refunds: usd(refundsOf(charges)),
  };
}
