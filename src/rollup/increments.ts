/**
 * Increments: what the provider as a whole has in a stretch of time, as rows that add up. Those of a length make
 * together what one of a longer one is: quarter hours make six hours, these a day in UTC, and days a month. So each
 * tells whether one of the others was changed or lost, and a day of any zone needs the quarter hours of few.
 */
import { DAY, monthStart } from "../db/datetime.ts";

/** The lengths of stretches, in minutes, in ascending order. That of a month stands for any. */
export const LENGTHS = { quarter: 15, sixHours: 360, day: 1_440, month: 43_200 } as const;

/** A minute in ms. */
export const MINUTE = 60_000;

/** The start of the stretch of a length that an instant lies in, and the start of the next one, in epoch ms. */
export function stretchOf(at: number, length: number): readonly [start: number, end: number] {
  if (length === LENGTHS.month) {
    const [year, month] = [new Date(at).getUTCFullYear(), new Date(at).getUTCMonth()];
    return [monthStart(year, month), monthStart(year, month + 1)];
  }
  const ms = length * MINUTE;
  const start = Math.floor(at / ms) * ms;
  return [start, start + ms];
}

/** The numbers of the six hours of a day, as SQL. */
export const PARTS = "0, 1, 2, 3";

/** The number of the six hours of its day that an instant (epoch ms) lies in: 0 to 3. */
export function sixHoursOf(at: number): number {
  return Math.floor((at - Math.floor(at / DAY) * DAY) / (LENGTHS.sixHours * MINUTE));
}
