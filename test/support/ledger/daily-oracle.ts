/** The expected revenue per day of a ledger: its rows filtered and summed, as the comments of the proto file define. */
import type { ExpectedPeriod } from "./breakdown-oracle.ts";
import { shift } from "./instants.ts";
import { refundsOf, sum, tenPercent, timestamp, usd } from "./json-figures.ts";
import type { Charge, Ledger } from "./ledger.ts";

/** The most days that a period may touch. */
const MAX_DAYS = 400;

/**
 * The days of a period at `now` (ISO 8601) in a time zone, as protobuf JSON; the message of the error if it has too
 * many.
 */
export function expectedDaily(
  ledger: Ledger,
  { start, end }: ExpectedPeriod,
  now: string,
  timeZone = "UTC",
) {
  const dates = datesBetween(start, end, timeZone);
  // The days of a longer period are too many to list; no zone has left out as many.
  const days = dates > 2 * MAX_DAYS ? [] : daysBetween(start, end, timeZone);
  const count = days.length || dates;
  if (count > MAX_DAYS) {
    return `startDate: expected a period of at most 400 days, got ${count} (from ${start} to ${end})`;
  }
  const charges = ledger.charges.filter(({ at }) => start <= at && at <= end && at <= now);
  return {
    startDate: timestamp(start),
    endDate: timestamp(end),
    ...figures(charges),
    days: days.map(({ date, first, next }) => {
      const ofDay = charges.filter(({ at }) => first <= at && at < next);
      const partial = start > first || next > after(end) || next > now;
      const [startTime, endTime] = [timestamp(first), timestamp(next > LAST ? LAST : next)];
      return { date, ...figures(ofDay), partial, startTime, endTime };
    }),
    timeZone,
  };
}

const FIRST = "0001-01-01T00:00:00.000Z";
const LAST = "9999-12-31T23:59:59.999Z";

/** The instant after another one, both ISO 8601, which sorts after the last one, too. */
const after = (iso: string) => (iso === LAST ? "9999-12-31T24" : shift(iso, 1));

const dateAt = (at: string, timeZone: string) =>
  Temporal.Instant.from(at).toZonedDateTimeISO(timeZone).toPlainDate();

const datesBetween = (start: string, end: string, timeZone: string) =>
  dateAt(start, timeZone).until(dateAt(end, timeZone)).days + 1;

/** The days that two instants and all between lie in: their dates, and the first instants of each and of the next. */
function daysBetween(start: string, end: string, timeZone: string) {
  const firstOf = (date: Temporal.PlainDate) => date.toZonedDateTime(timeZone).toInstant();
  const iso = (instant: Temporal.Instant) =>
    instant.epochMilliseconds > Date.parse(LAST)
      ? "9999-12-31T24"
      : instant.epochMilliseconds < Date.parse(FIRST)
        ? FIRST
        : new Date(instant.epochMilliseconds).toISOString();
  const days = [];
  const last = dateAt(end, timeZone).add({ days: 1 });
  for (
    let date = dateAt(start, timeZone);
    Temporal.PlainDate.compare(date, last) <= 0;
    date = date.add({ days: 1 })
  ) {
    const [first, next] = [iso(firstOf(date)), iso(firstOf(date.add({ days: 1 })))];
    if (first < next && first <= end && next > start)
      days.push({ date: date.toString(), first, next });
  }
  return days;
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
