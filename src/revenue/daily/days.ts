/** The days of a period, and the parameters that they make. */
import { toBoundary } from "../../rollup/leaves.ts";
import { countDays, DAY, dayOf, startsOfDays } from "../calendar.ts";
import {
  DEFAULT_LENGTH,
  includingEarlier,
  periodParameters,
  type RequestedPeriod,
} from "../period.ts";
import { dailyOfMaximum, dailyOfMonth, endsOf, MAX_DAYS, MONTH } from "./queries.ts";

/** The days of a period, by their starts in epoch ms. */
export interface Days {
  /** Of the first day, and of the last one, of at most `MAX_DAYS`. */
  readonly from: number;
  readonly to: number;
  /** The first start of a day in the period, and the last one up to the instant after its end. */
  readonly first: number;
  readonly last: number;
}

/** The days of a period that is requested at `now` (epoch ms). */
export function daysOf(requested: RequestedPeriod, now: number): Days {
  const { start = now - DEFAULT_LENGTH, end = now } = requested;
  const from = dayOf(start);
  return {
    from,
    to: Math.min(dayOf(end), from + (MAX_DAYS - 1) * DAY),
    first: start === from ? from : from + DAY,
    last: dayOf(end + 1),
  };
}

/**
 * The statement for a period with these days, and its parameters. Of a period that is too long, no more is read
 * than of the longest one.
 */
export function questionFor({ start, end = Infinity }: RequestedPeriod, days: Days) {
  const { from, to, first, last } = days;
  const [length, statement] =
    countDays(from, to) <= MONTH ? [MONTH, dailyOfMonth] : [MAX_DAYS, dailyOfMaximum];
  const firstDay = includingEarlier(toBoundary(first));
  const values: Record<string, string> = {
    ...periodParameters({ start, end: Math.min(end, from + MAX_DAYS * DAY - 1) }),
    firstDay,
    lastDay: includingEarlier(toBoundary(last)),
  };
  const ends = startsOfDays(first, to).map((day) => toBoundary(day + DAY));
  // A place without a day repeats the first boundary, which adds nothing.
  for (const [nth, name] of endsOf(length).entries()) values[name] = ends[nth] ?? firstDay;
  return { statement, values };
}
