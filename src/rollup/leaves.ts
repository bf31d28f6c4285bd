/**
 * The leaves of a rollup: stretches of event time between marks of the calendar, in UTC. All leaves of
 * a rollup have the same length. Instants are DATETIME(3) text, which sorts in order of time.
 */
import {
  DAY,
  FIRST_INSTANT,
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

/**
 * The length of leaves, as an ISO 8601 duration. Rollups store this text, so what it means never changes:
 * minutes, hours and days are counted from the first of the month, and the last leaf of a month ends
 * with it; months are counted from January.
 */
export type LeafLength = `PT${number}${"M" | "H"}` | `P${number}${"D" | "M" | "Y"}`;

/** The lengths to choose from, in ascending order; each is made of whole leaves of the one before. */
export const LEAVES: readonly LeafLength[] = [
  "PT5M",
  "PT15M",
  "PT30M",
  "PT1H",
  "PT3H",
  "PT6H",
  "PT12H",
  "P1D",
  "P2D",
  "P4D",
  "P8D",
  "P16D",
  "P1M",
  "P3M",
  "P1Y",
];

/** A quarter of an hour: days of every zone begin at one, but for those of local mean time. */
export const QUARTER = { leaf: "PT15M", ms: 15 * 60_000 } as const;

/** What the provider as a whole has all boundaries of, on a day with rows: its quarter hours, or its end alone. */
export type LeafOfTotal = "P1D" | typeof QUARTER.leaf;

/** The lengths of the leaves of a rollup. */
interface Lengths {
  readonly leaf: LeafLength;
  readonly totalLeaf: LeafOfTotal;
}

/** The length of the leaves of the provider as a whole: its own, or those of its owners if these are shorter. */
export function leafOfTotal({ leaf, totalLeaf }: Lengths): LeafLength {
  return stepsShorter(leaf, totalLeaf) > 0 ? leaf : totalLeaf;
}

/** The units of lengths, in ms or in months. */
const UNITS: Readonly<Record<string, readonly [ms: number, months: number]>> = {
  TM: [60_000, 0],
  TH: [3_600_000, 0],
  D: [DAY, 0],
  M: [0, 1],
  Y: [0, 12],
};

const parsed = new Map<string, readonly [ms: number, months: number]>();

/** Whether the texts of a row of the database are lengths: somebody may have written others. */
export function areLengths({ leaf, totalLeaf }: Lengths): boolean {
  return measure(leaf).some((part) => part > 0) && [QUARTER.leaf, "P1D"].includes(totalLeaf);
}

/** A length in ms, or in months; the other is 0. */
function parse(length: string): readonly [ms: number, months: number] {
  const found = measure(length);
  if (found[0] + found[1] > 0) return found;
  throw new Error(`the rollup has leaves of an unknown length: ${JSON.stringify(length)}`);
}

/** The same; of a text that is no length both are 0. */
function measure(length: string): readonly [ms: number, months: number] {
  return parsed.getOrInsertComputed(length, () => {
    const [, time = "", count = "", unit = ""] = /^P(T?)(\d+)([MHDY])$/.exec(length) ?? [];
    const [ms = 0, months = 0] = UNITS[time + unit] ?? [];
    return [ms * Number(count), months * Number(count)];
  });
}

/** The leaf that an instant lies in. */
export function leafAt(instant: string, length: LeafLength): Leaf {
  const at = instantOf(instant);
  const date = new Date(at);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const [ms, months] = parse(length);
  if (months > 0) {
    const first = month - (month % months);
    return between(monthStart(year, first), monthStart(year, first + months));
  }
  const from = monthStart(year, month);
  const start = from + Math.floor((at - from) / ms) * ms;
  return between(start, Math.min(start + ms, monthStart(year, month + 1)));
}

/** The length of leaves in seconds; of those that are longer than a day, that of a day. */
export function secondsUpToDay(length: LeafLength): number {
  const [ms] = parse(length);
  return Math.min(ms || DAY, DAY) / 1_000;
}

/** A day of a zone may reach into the second one after that of its first instant. */
const DAYS_OF_QUARTERS = 3;

/**
 * The boundaries that the sums of the provider as a whole have for leaves with rows: their ends, and those of their
 * days and months. So a start of a day or a month that is not stored has no row between it and the one before. With
 * quarter hours that holds for the days of every zone: it has all of the leaf's day and of the two after it.
 */
export function boundariesOfTotal(leaves: Iterable<Leaf>, totalLeaf: LeafOfTotal): Set<string> {
  const boundaries = new Set<string>();
  const days = new Set<string>();
  for (const { from, to } of leaves) {
    const day = leafAt(from, "P1D");
    boundaries.add(to).add(day.to).add(leafAt(from, "P1M").to);
    days.add(day.from);
  }
  if (totalLeaf !== QUARTER.leaf) return boundaries;
  const ends = new Set<string>();
  for (const day of days) {
    for (let nth = 1; nth <= DAYS_OF_QUARTERS; nth++) {
      ends.add(toBoundary(fromDatetime(day) + nth * DAY));
    }
  }
  return boundaries.union(new Set([...ends].flatMap((end) => boundariesOfDay(end, totalLeaf))));
}

/** The boundaries of the provider as a whole on a day, from its end: its quarter hours, or that end alone. */
export function boundariesOfDay(end: string, totalLeaf: LeafOfTotal): readonly string[] {
  if (totalLeaf !== QUARTER.leaf || end === LAST_INSTANT) return [end];
  const start = fromDatetime(end) - DAY;
  return Array.from({ length: DAY / QUARTER.ms }, (_, nth) =>
    toDatetime(start + (nth + 1) * QUARTER.ms),
  );
}

/** A part of the timeline that holds some leaves, and the boundaries of the provider as a whole for them. */
export function spanOfTotal(leaves: readonly Leaf[], totalLeaf: LeafOfTotal): Span {
  const first = leaves.map(({ from }) => from).sort()[0] ?? FIRST_INSTANT;
  const to =
    leaves
      .map(({ to }) => to)
      .sort()
      .at(-1) ?? FIRST_INSTANT;
  const ends = boundariesOfTotal([{ from: justBefore(to).from, to }], totalLeaf);
  return { from: leafAt(first, "P1D").from, to: [...ends].sort().at(-1) ?? to };
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

/** The leaves that overlap any of the spans, in order. */
export function leavesOf(spans: Iterable<Span>, length: LeafLength): Leaf[] {
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

/** The provider as a whole has quarter hours if there are on average so many rows for each. */
const ROWS_PER_QUARTER = 4;

/** Whether days have enough rows, by a factor, for the provider as a whole to have quarter hours. */
export function isDense(days: RowsByDay, factor = 1): boolean {
  const rows = days.values().reduce((sum, count) => sum + count, 0);
  return rows > factor * ROWS_PER_QUARTER * (DAY / QUARTER.ms) * days.size;
}

/** How many steps a length of `LEAVES` is shorter than another; negative if it is longer. */
export function stepsShorter(length: LeafLength, other: LeafLength): number {
  return LEAVES.indexOf(other) - LEAVES.indexOf(length);
}
