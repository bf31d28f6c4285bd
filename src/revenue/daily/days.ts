/** The days of a period, and the parameters that they make. */
import { DAY, EARLIEST, toBoundary } from "../../db/datetime.ts";
import { QUARTER } from "../../rollup/leaves.ts";
import {
  DEFAULT_DAYS,
  includingEarlier,
  type Period,
  periodParameters,
  type RequestedPeriod,
} from "../period.ts";
import { type DayNumber, dateOf, dayAt, startOfDay } from "../time-zone.ts";
import {
  dailyOfMaximum,
  dailyOfMonth,
  endNames,
  MAX_DAYS,
  MONTH,
  TIMES,
  zonedDailyOfMaximum,
  zonedDailyOfMonth,
} from "./queries.ts";

/** A calendar day, from its first instant to that of the next day that exists, in epoch ms. */
export interface Day {
  readonly date: string;
  readonly start: number;
  readonly end: number;
}

/** The days of a period, by their numbers. */
export interface Days {
  /** The first day, and the last one, of at most `MAX_DAYS`. */
  readonly from: DayNumber;
  readonly to: DayNumber;
  /** The first day that begins in the period, and the last one up to the instant after its end. */
  readonly first: DayNumber;
  readonly last: DayNumber;
}

/** The default start of a period that is requested at `now`: of the 30 calendar days up to its end. In epoch ms. */
export function defaultStart({ end }: RequestedPeriod, now: number, zone: string): number {
  return Math.max(startOfDay(dayAt(end ?? now, zone) + 1 - DEFAULT_DAYS, zone), EARLIEST);
}

/** The days of a period that is requested at `now` (epoch ms). */
export function daysOf(requested: RequestedPeriod, now: number, zone: string): Days {
  const { start = defaultStart(requested, now, zone), end = now } = requested;
  const from = dayAt(start, zone);
  return {
    from,
    to: lastOfMaximum(from, dayAt(end, zone), zone),
    first: startOfDay(from, zone) === start ? from : from + 1,
    last: dayAt(end + 1, zone),
  };
}

/** The last day up to `to`, of at most `MAX_DAYS` that the zone has. */
function lastOfMaximum(from: DayNumber, to: DayNumber, zone: string): DayNumber {
  const last = from + MAX_DAYS - 1;
  // One that the zone has left out makes room for another.
  return to <= last ? to : Math.min(to, last + MAX_DAYS - listDays(from, last, zone).length);
}

/** The days that a zone has, from one to another. */
export function listDays(from: DayNumber, to: DayNumber, zone: string): readonly Day[] {
  const days: Day[] = [];
  let start = startOfDay(from, zone);
  for (let day = from; day <= to; day++) {
    const end = startOfDay(day + 1, zone);
    if (start < end) days.push({ date: dateOf(day), start, end });
    start = end;
  }
  return days;
}

/** Whether a day is not wholly inside the period, or not over at `now`. */
export function isPartial(day: Day, { start, end }: Period, now: number): boolean {
  return start > day.start || Math.min(end + 1, now) < day.end;
}

/**
 * The statement for a period with these days, and its parameters. Of a period that is too long, no more is read
 * than of the longest one.
 *
 * @param list all of them
 * @throws Error if they begin at more times of day than a statement has
 */
export function questionFor(
  requested: RequestedPeriod,
  { from, to, first, last }: Days,
  list: readonly Day[],
  zone: string,
) {
  const { start = startOfDay(from, zone), end = Infinity } = requested;
  const isShort = to - from < MONTH;
  const firstStart = startOfDay(first, zone);
  const lastStart = startOfDay(Math.min(last, to + 1), zone);
  const firstDay = includingEarlier(toBoundary(firstStart));
  const values: Record<string, string> = {
    ...periodParameters({ start, end: Math.min(end, startOfDay(to + 1, zone) - 1) }),
    firstDay,
    lastDay: includingEarlier(toBoundary(lastStart)),
  };
  const ends = list.filter((day) => day.start >= firstStart).map((day) => toBoundary(day.end));
  // A place without a day repeats the first boundary, which adds nothing.
  for (const [nth, name] of endNames(isShort ? MONTH : MAX_DAYS).entries())
    values[name] = ends[nth] ?? firstDay;
  const starts = [...list.map((day) => day.start), firstStart, lastStart];
  // On the day on which clocks change, the end is at another time of day.
  const boundaries = [...starts, ...list.map((day) => day.end)];
  if (boundaries.every((at) => at % DAY === 0)) {
    return { statement: isShort ? dailyOfMonth : dailyOfMaximum, values };
  }
  const times = [...new Set(starts.map(timeOfDay))];
  // The charges of a day that begins at yet another time would count with those of the day before or after it.
  if (times.length > TIMES.length) {
    throw new Error(`days of ${zone} begin at more than ${TIMES.length} times of day (UTC)`);
  }
  for (const [nth, name] of TIMES.entries()) {
    values[name] = String((times[nth] ?? times[0] ?? 0) / 1_000);
  }
  // No rollup has boundaries at other times, which local mean time has.
  values.leaf = boundaries.every((at) => at % QUARTER.ms === 0) ? QUARTER.leaf : "";
  return { statement: isShort ? zonedDailyOfMonth : zonedDailyOfMaximum, values };
}

/** The time of day (UTC) of an instant, both in ms. */
function timeOfDay(instant: number): number {
  return ((instant % DAY) + DAY) % DAY;
}
