/** The days of a period, and the parameters that they make. */
import { toBoundary } from "../../rollup/leaves.ts";
import { countDays, dayOf, plusDays, startsOfDays } from "../calendar.ts";
import {
  DEFAULT_DAYS,
  EARLIEST,
  includingEarlier,
  type Period,
  periodParameters,
  type RequestedPeriod,
} from "../period.ts";
import { dailyOfMaximum, dailyOfMonth, endNames, MAX_DAYS, MONTH } from "./queries.ts";

/** The days of a period, by their starts in epoch ms. */
export interface Days {
  /** Of the first day, and of the last one, of at most `MAX_DAYS`. */
  readonly from: number;
  readonly to: number;
  /** The first start of a day in the period, and the last one up to the instant after its end. */
  readonly first: number;
  readonly last: number;
}

/** The default start of a period that is requested at `now`: of the 30 calendar days up to its end. In epoch ms. */
export function defaultStart({ end }: RequestedPeriod, now: number): number {
  return Math.max(plusDays(dayOf(end ?? now), 1 - DEFAULT_DAYS), EARLIEST);
}

/** The days of a period that is requested at `now` (epoch ms). */
export function daysOf(requested: RequestedPeriod, now: number): Days {
  const { start = defaultStart(requested, now), end = now } = requested;
  const from = dayOf(start);
  return {
    from,
    to: Math.min(dayOf(end), plusDays(from, MAX_DAYS - 1)),
    first: start === from ? from : plusDays(from, 1),
    last: dayOf(end + 1),
  };
}

/** Whether a day (its start) is not wholly inside the period, or not over at `now`. */
export function isPartial(day: number, { start, end }: Period, now: number): boolean {
  return start > day || Math.min(end + 1, now) < plusDays(day, 1);
}

/**
 * The statement for a period with these days, and its parameters. Of a period that is too long, no more is read
 * than of the longest one.
 */
export function questionFor(requested: RequestedPeriod, { from, to, first, last }: Days) {
  const { start = from, end = Infinity } = requested;
  const [length, statement] =
    countDays(from, to) <= MONTH ? [MONTH, dailyOfMonth] : [MAX_DAYS, dailyOfMaximum];
  const firstDay = includingEarlier(toBoundary(first));
  const values: Record<string, string> = {
    ...periodParameters({ start, end: Math.min(end, plusDays(from, MAX_DAYS) - 1) }),
    firstDay,
    lastDay: includingEarlier(toBoundary(last)),
  };
  const ends = startsOfDays(first, to).map((day) => toBoundary(plusDays(day, 1)));
  // A place without a day repeats the first boundary, which adds nothing.
  for (const [nth, name] of endNames(length).entries()) values[name] = ends[nth] ?? firstDay;
  return { statement, values };
}
