/**
 * The leaves of a rollup: stretches of event time between marks of the calendar, in UTC. All leaves of
 * a rollup have the same length. Instants are DATETIME(3) text, which sorts in order of time.
 */
import { fromDatetime, instantOf, monthStart, toDatetime } from "../db/datetime.ts";

/** The first instant that a row is dated at. Rows that are dated before it count as dated at it. */
export const FIRST_INSTANT = "0001-01-01 00:00:00.000";

/** The last instant that a row can be dated at. */
export const LAST_INSTANT = "9999-12-31 23:59:59.999";

/** A stretch of event time: [from, to). */
export interface Leaf {
  readonly from: string;
  /** The boundary. `LAST_INSTANT` for the last leaf there is. */
  readonly to: string;
}

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];

/**
 * The lengths, in ascending order; each is made of whole leaves of the one before. Those in ms are
 * counted from the first of the month, and the last one of a month ends with it. Rollups store the
 * places in this list.
 */
export const LEAVES = [
  5 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  4 * DAY,
  8 * DAY,
  16 * DAY,
  "month",
  "quarter",
  "year",
] as const;

/** The places of the lengths that the provider as a whole may have. */
export const [DAY_LEAF, MONTH_LEAF] = [7, 12];

/** The leaf that an instant lies in. `length` is a place in `LEAVES`. */
export function leafAt(instant: string, length: number): Leaf {
  const at = instantOf(instant);
  const date = new Date(at);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const leaf = LEAVES[length] ?? "year";
  if (leaf === "year") return between(monthStart(year, 0), monthStart(year + 1, 0));
  const [from, to] = [monthStart(year, month), monthStart(year, month + 1)];
  if (leaf === "month") return between(from, to);
  if (leaf === "quarter") {
    const first = month - (month % 3);
    return between(monthStart(year, first), monthStart(year, first + 3));
  }
  const start = from + Math.floor((at - from) / leaf) * leaf;
  return between(start, Math.min(start + leaf, to));
}

/** Whether a leaf ends at an instant. */
export function isBoundary(at: string, length: number): boolean {
  return at === LAST_INSTANT || leafAt(at, length).from === at;
}

/**
 * The first boundary from `from` on, and the last one up to `to`. If none lies between the two, the
 * second is before the first.
 */
export function boundariesIn(
  from: string,
  to: string,
  length: number,
): [first: string, last: string] {
  const leaf = leafAt(from, length);
  return [leaf.from === from ? from : leaf.to, leafAt(to, length).from];
}

/** The leaves that lie between two instants, both included, in order. */
function* leavesBetween(first: string, last: string, length: number): Generator<Leaf> {
  for (let leaf = leafAt(first, length); ; leaf = leafAt(leaf.to, length)) {
    yield leaf;
    if (leaf.to > last || leaf.to === LAST_INSTANT) return;
  }
}

function between(from: number, to: number): Leaf {
  return { from: toDatetime(from), to: to > LAST ? LAST_INSTANT : toDatetime(to) };
}

const LAST = fromDatetime(LAST_INSTANT);

/** A part of the timeline, both ends included. */
export interface Span {
  readonly from: string;
  readonly to: string;
}

/** The leaves that overlap any of the spans, in order. */
export function leavesOf(spans: Iterable<Span>, length: number): Leaf[] {
  const byEnd = new Map<string, Leaf>();
  for (const { from, to } of spans) {
    for (const leaf of leavesBetween(from, to, length)) byEnd.set(leaf.to, leaf);
  }
  return [...byEnd.values()].sort((left, right) => (left.to < right.to ? -1 : 1));
}

/** How many rows a leaf should have for each owner, and in all: at least, and at most. */
const [ROWS_PER_OWNER, MIN_ROWS, MAX_ROWS] = [8, 250, 8_000];
/** A boundary stores a row for each owner: a leaf should have three rows of the ledger for each. */
const MIN_ROWS_PER_OWNER = 3;

/** The number of charges and rentals that a leaf of a provider should have on average, at most. */
export function rowsPerLeaf(owners: number): number {
  const rows = Math.min(ROWS_PER_OWNER * owners, MAX_ROWS);
  return Math.max(MIN_ROWS, rows, MIN_ROWS_PER_OWNER * owners);
}

/** The number of rows that are dated on a day ("2026-11-20"). */
export type RowsByDay = ReadonlyMap<string, number>;

/**
 * The place of the longest length whose leaves, if they are not empty, hold on average no more than
 * `limit` rows. Rows of a day count as spread evenly.
 */
export function chooseLeaf(days: RowsByDay, limit: number): number {
  const rows = days.values().reduce((sum, count) => sum + count, 0);
  const leavesOf = (length: (typeof LEAVES)[number], place: number) => {
    if (typeof length === "string" || length >= DAY) {
      return new Set(days.keys().map((day) => leafAt(`${day} 00:00:00.000`, place).to)).size;
    }
    return days.values().reduce((sum, count) => sum + Math.min(count, DAY / length), 0);
  };
  const place = LEAVES.findLastIndex((length, nth) => rows <= limit * leavesOf(length, nth));
  return Math.max(place, 0);
}
