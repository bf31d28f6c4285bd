/**
 * Where the stored sums of an answer begin and end: *s'* and *e'* of docs/rollups.md, as values. All instants are
 * DATETIME(3) text.
 */
import { after, earlierOf, FIRST_INSTANT, LAST_INSTANT, toDatetime } from "../../db/datetime.ts";
import { BEFORE_ALL } from "../../db/sql-time.ts";
import { countCharges } from "../stored-sums.ts";
import { type Length, stretchAt } from "../stretches.ts";

/** `first` is `last` if none lies in the period. */
export interface Boundaries {
  /** The first boundary from the start of the period on. */
  readonly first: string;
  /** The last one up to the instant after its end; the one after the watermark if it has everything covered. */
  readonly last: string;
}

/**
 * The boundaries of a period.
 *
 * @param end its last instant, in epoch ms, at most now
 * @param marks the first mark of the calendar from its start on, and the last one up to the instant after its end
 */
export function boundariesOf(watermark: string, end: number, marks: Boundaries): Boundaries {
  const last = toDatetime(end) >= watermark ? after(watermark) : marks.last;
  return { first: earlierOf(marks.first, last), last };
}

/** The mark at which sums are stored up to a boundary: the one after the watermark is none of the clock's. */
export const storedMark = (at: string, watermark: string): string =>
  at > watermark ? LAST_INSTANT : at;

/**
 * How many charges were read between the ends of a period because the rollup does not cover them. Those after its
 * last boundary are among them if that is the one after the watermark; otherwise the period ends within a leaf.
 */
export function countUncovered(
  { uncovered, tail }: Readonly<Record<"uncovered" | "tail", readonly ChargesRow[]>>,
  boundaries?: Boundaries,
  watermark = "",
): number {
  const hasTail = boundaries !== undefined && boundaries.last > watermark;
  return countCharges(uncovered) + (hasTail ? countCharges(tail) : 0);
}

type ChargesRow = { readonly charges: string };

/** The marks of leaves in a period, whose ends are in epoch ms. */
export function marksOf(leaf: Length, start: number, end: number): Boundaries {
  const from = toDatetime(start);
  const leafOfStart = stretchAt(from, leaf);
  const first = leafOfStart.from === from ? from : leafOfStart.to;
  return { first: mark(first), last: mark(stretchAt(toDatetime(end + 1), leaf).from) };
}

/** The first mark is before all rows: those that are dated before the first instant count as dated at it. */
function mark(at: string): string {
  return at === FIRST_INSTANT ? BEFORE_ALL : at;
}
