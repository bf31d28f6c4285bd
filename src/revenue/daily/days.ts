/** The days of a period. */
import { DAY, EARLIEST } from "../../db/datetime.ts";
import { DEFAULT_DAYS, type Period, type RequestedPeriod } from "../period.ts";
import { dateOf, dayAt, startOfDay } from "../time-zone.ts";

/** A calendar day, from its first instant to that of the next day that exists, in epoch ms. */
export interface Day {
  readonly date: string;
  readonly start: number;
  readonly end: number;
}

/** The default start of a period that is requested at `now`: of the 30 calendar days up to its end. In epoch ms. */
export function defaultStart({ end }: RequestedPeriod, now: number, zone: string): number {
  return Math.max(startOfDay(dayAt(end ?? now, zone) + 1 - DEFAULT_DAYS, zone), EARLIEST);
}

/** The kinds of stretches that a period has a list of, each with the function that makes it. */
export const STRETCHES = { day: daysOf } as const;
export type StretchKind = keyof typeof STRETCHES;

/** The days that a period touches, and that the zone has, oldest first. */
export function daysOf(period: Period, zone: string): readonly Day[] {
  const days: Day[] = [];
  const [from, to] = [dayAt(period.start, zone), dayAt(period.end, zone)];
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

/** The place of the day that an instant lies in, in a list of days in their order. */
export function indexOf(instant: number, days: readonly Pick<Day, "start">[]): number {
  let [low, high] = [0, days.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((days[middle]?.start ?? Infinity) <= instant) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The times of day (UTC) at which days begin and end, in ms, in their order. */
export function timesOf(days: readonly Day[]): readonly number[] {
  const ends = days.flatMap(({ start, end }) => [start, end]);
  return [...new Set(ends.map((at) => ((at % DAY) + DAY) % DAY))].sort((a, b) => a - b);
}

/** Those of them that lie within a stretch of a length, in ms, and not at its start. */
export function timesWithin(days: readonly Day[], length: number): readonly number[] {
  return timesOf(days).filter((time) => time % length !== 0);
}

/** Whether days begin at midnight UTC. */
export const isUtc = (days: readonly Day[]): boolean => timesWithin(days, DAY).length === 0;
