/**
 * Stretches of event time between boundaries of the calendar, in UTC: leaves, quarter hours, hours, days, months. Which
 * one an instant lies in is decided here alone, in TypeScript and in SQL. Instants are DATETIME(3) text, which sorts in
 * order of time, or epoch ms.
 */
import {
  DAY,
  fromDatetime,
  instantOf,
  LAST_INSTANT,
  monthStart,
  toBoundary,
  toDatetime,
} from "../db/datetime.ts";

/** A stretch of event time: [from, to). */
export interface Stretch {
  readonly from: string;
  /** The boundary after it. `LAST_INSTANT` for the last one there is. */
  readonly to: string;
}

const HOUR = 3_600_000;

/**
 * The lengths, in ms or in months, in ascending order; a stretch of each is made of whole ones of the length before.
 * Rollups store the names, ISO 8601 durations, so what one means never changes: minutes, hours and days are counted from
 * the first of the month, and the last stretch of a month ends with it; months are counted from January.
 */
const LENGTHS = {
  PT5M: { ms: HOUR / 12 },
  PT15M: { ms: HOUR / 4 },
  PT30M: { ms: HOUR / 2 },
  PT1H: { ms: HOUR },
  PT3H: { ms: 3 * HOUR },
  PT6H: { ms: 6 * HOUR },
  PT12H: { ms: 12 * HOUR },
  P1D: { ms: DAY },
  P2D: { ms: 2 * DAY },
  P4D: { ms: 4 * DAY },
  P8D: { ms: 8 * DAY },
  P16D: { ms: 16 * DAY },
  P1M: { months: 1 },
  P3M: { months: 3 },
  P1Y: { months: 12 },
} as const;

/** The length of a stretch. */
export type Length = keyof typeof LENGTHS;

/** All of them, in ascending order. */
export const ALL_LENGTHS = Object.keys(LENGTHS) as readonly Length[];

/** Whether a text of the database is a length: somebody may have written another one. */
export function isLength(text: string): text is Length {
  return Object.hasOwn(LENGTHS, text);
}

/**
 * A quarter of an hour, which days of every zone begin at, but for those of local mean time. Leaves are made of whole
 * ones, or it of leaves.
 */
export const QUARTER = { length: "PT15M", ms: 15 * 60_000 } as const;

/** The start of the stretch of a length that an instant lies in, both in epoch ms. */
export function startOf(at: number, length: Length): number {
  const [year, month] = monthOf(at);
  const measure = LENGTHS[length];
  if ("months" in measure) return monthStart(year, month - (month % measure.months));
  const first = monthStart(year, month);
  return first + Math.floor((at - first) / measure.ms) * measure.ms;
}

function endOf(start: number, length: Length): number {
  const [year, month] = monthOf(start);
  const measure = LENGTHS[length];
  if ("months" in measure) return monthStart(year, month + measure.months);
  return Math.min(start + measure.ms, monthStart(year, month + 1));
}

function monthOf(at: number): readonly [year: number, month: number] {
  const date = new Date(at);
  return [date.getUTCFullYear(), date.getUTCMonth()];
}

/** The stretch of a length that an instant lies in. */
export function stretchAt(instant: string, length: Length): Stretch {
  const start = startOf(instantOf(instant), length);
  return { from: toDatetime(start), to: toBoundary(endOf(start, length)) };
}

/** SQL, for GROUP BY: the same for all instants in a column that lie in one stretch; of longer ones, in one day of it. */
export function byStretch(column: string, length: Length): string {
  return `DATE(${column}), TIME_TO_SEC(${column}) DIV ${secondsUpToDay(length)}`;
}

/** The same for months. A day 0 is in the month before (`instantOf`). */
export function byMonth(column: string): string {
  return `EXTRACT(YEAR_MONTH FROM ${column}) - (DAY(${column}) = 0)`;
}

/** A length in seconds; of those that are longer than a day, that of a day. */
export function secondsUpToDay(length: Length): number {
  const measure = LENGTHS[length];
  return ("ms" in measure ? Math.min(measure.ms, DAY) : DAY) / 1_000;
}

/** Whether an instant is a boundary: whether a stretch of a length begins at it. */
export function isBoundary(at: string, length: Length): boolean {
  return stretchAt(at, length).from === at;
}

/** The last instant before a boundary. */
export function justBefore(boundary: string): string {
  return toDatetime(fromDatetime(boundary) - 1);
}

/** The stretches of a length that overlap the hours of some instants, in order. */
export function stretchesOf(instants: Iterable<string>, length: Length): Stretch[] {
  const byEnd = new Map<string, Stretch>();
  for (const instant of instants) {
    const hour = stretchAt(instant, "PT1H");
    for (let at = hour.from; ; ) {
      const stretch = stretchAt(at, length);
      byEnd.set(stretch.to, stretch);
      at = stretch.to;
      if (at >= hour.to || at === LAST_INSTANT) break;
    }
  }
  return inOrder(byEnd.values());
}

/** What stretches make together, in order: those that follow on each other are one. */
export function joined(stretches: Iterable<Stretch>): Stretch[] {
  const made: Stretch[] = [];
  for (const { from, to } of inOrder(stretches)) {
    const last = made.at(-1);
    if (last?.to === from) made.splice(-1, 1, { from: last.from, to });
    else made.push({ from, to });
  }
  return made;
}

const inOrder = (stretches: Iterable<Stretch>) =>
  [...stretches].sort((left, right) => (left.to < right.to ? -1 : 1));
