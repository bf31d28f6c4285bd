/**
 * The leaves of a rollup: stretches of event time between marks of the calendar, in UTC. All leaves of
 * a rollup have the same length. Instants are DATETIME(3) text, which sorts in order of time.
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
export interface Leaf {
  readonly from: string;
  /** The boundary. `LAST_INSTANT` for the last leaf there is. */
  readonly to: string;
}

const HOUR = 3_600_000;

/**
 * The lengths of leaves to choose from, in ms or in months, in ascending order; each is made of whole leaves of the one
 * before. Rollups store the names, ISO 8601 durations, so what one means never changes: minutes, hours and days are
 * counted from the first of the month, and the last leaf of a month ends with it; months are counted from January.
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

/** The length of leaves. */
export type LeafLength = keyof typeof LENGTHS;

/** The lengths, in ascending order. */
export const LEAVES = Object.keys(LENGTHS) as readonly LeafLength[];

/** Whether a text of the database is a length: somebody may have written another one. */
export function isLength(text: string): text is LeafLength {
  return Object.hasOwn(LENGTHS, text);
}

/**
 * A quarter of an hour, which days of every zone begin at, but for those of local mean time. Leaves are made of whole
 * ones, or it of leaves.
 */
export const QUARTER = { length: "PT15M", ms: 15 * 60_000 } as const;

/** The leaf that an instant lies in. */
export function leafAt(instant: string, length: LeafLength): Leaf {
  const at = instantOf(instant);
  const date = new Date(at);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const measure = LENGTHS[length];
  if ("months" in measure) {
    const { months } = measure;
    const first = month - (month % months);
    return between(monthStart(year, first), monthStart(year, first + months));
  }
  const { ms } = measure;
  const from = monthStart(year, month);
  const start = from + Math.floor((at - from) / ms) * ms;
  return between(start, Math.min(start + ms, monthStart(year, month + 1)));
}

/** The length of leaves in seconds; of those that are longer than a day, that of a day. */
export function secondsUpToDay(length: LeafLength): number {
  const measure = LENGTHS[length];
  return ("ms" in measure ? Math.min(measure.ms, DAY) : DAY) / 1_000;
}

/** Whether a leaf ends at an instant. */
export function isBoundary(at: string, length: LeafLength): boolean {
  return leafAt(at, length).from === at;
}

/** The leaves that lie between two instants, both included, in order. */
function* leavesBetween(first: string, last: string, length: LeafLength): Generator<Leaf> {
  for (let leaf = leafAt(first, length); ; leaf = leafAt(leaf.to, length)) {
    yield leaf;
    if (leaf.to > last || leaf.to === LAST_INSTANT) return;
  }
}

/** The last instant before a boundary, as a span. */
export function justBefore(boundary: string): Span {
  const at = toDatetime(fromDatetime(boundary) - 1);
  return { from: at, to: at };
}

function between(from: number, to: number): Leaf {
  return { from: toDatetime(from), to: toBoundary(to) };
}

/** A part of the timeline, both ends included. */
export interface Span {
  readonly from: string;
  readonly to: string;
}

/** The leaves that overlap any of the spans, or an hour that does, in order. */
export function leavesOf(spans: Iterable<Span>, length: LeafLength): Leaf[] {
  const byEnd = new Map<string, Leaf>();
  for (const span of spans) {
    const [from, last] = [leafAt(span.from, "PT1H").from, leafAt(span.to, "PT1H")];
    const { to } = justBefore(last.to);
    for (const leaf of leavesBetween(from, to, length)) byEnd.set(leaf.to, leaf);
  }
  return [...byEnd.values()].sort((left, right) => (left.to < right.to ? -1 : 1));
}

/** Stretches of time that leaves make together, in order: those that follow on each other are one. */
export function joined(leaves: readonly Leaf[]): Leaf[] {
  const stretches: Leaf[] = [];
  for (const leaf of leaves.toSorted((left, right) => (left.to < right.to ? -1 : 1))) {
    const last = stretches.at(-1);
    if (last?.to === leaf.from) stretches.splice(-1, 1, { from: last.from, to: leaf.to });
    else stretches.push(leaf);
  }
  return stretches;
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
 * The longest length whose leaves, if they are not empty, hold on average no more than `limit` rows. Rows
 * of a day count as spread evenly.
 */
export function chooseLeaf(days: RowsByDay, limit: number): LeafLength {
  const rows = days.values().reduce((sum, count) => sum + count, 0);
  const leavesOf = (length: LeafLength) => {
    const inDay = DAY / 1_000 / secondsUpToDay(length);
    if (inDay === 1) {
      return new Set(days.keys().map((day) => leafAt(`${day} 00:00:00.000`, length).to)).size;
    }
    return days.values().reduce((sum, count) => sum + Math.min(count, inDay), 0);
  };
  return LEAVES.findLast((length) => rows <= limit * leavesOf(length)) ?? "PT5M";
}

/** How many steps a length of `LEAVES` is shorter than another; negative if it is longer. */
export function stepsShorter(length: LeafLength, other: LeafLength): number {
  return LEAVES.indexOf(other) - LEAVES.indexOf(length);
}
