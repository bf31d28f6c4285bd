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
 * @param ofCalendar the first boundary of the calendar from its start on, and the last one up to the instant after its
 *   end
 */
export function boundariesOf(watermark: string, end: number, ofCalendar: Boundaries): Boundaries {
  const last = toDatetime(end) >= watermark ? after(watermark) : ofCalendar.last;
  return { first: earlierOf(ofCalendar.first, last), last };
}

/** The boundary at which sums are stored up to a boundary: the one after the watermark is none of the clock's. */
export const storedBoundary = (at: string, watermark: string): string =>
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

/** The boundaries of leaves in a period, whose ends are in epoch ms. */
export function boundariesOfLeaves(leaf: Length, start: number, end: number): Boundaries {
  const from = toDatetime(start);
  const leafOfStart = stretchAt(from, leaf);
  const first = leafOfStart.from === from ? from : leafOfStart.to;
  const last = stretchAt(toDatetime(end + 1), leaf).from;
  return { first: includingEarlier(first), last: includingEarlier(last) };
}

/** An instant at which something begins. What is dated before the first instant counts as dated at it. */
export function includingEarlier(at: string): string {
  return at === FIRST_INSTANT ? BEFORE_ALL : at;
}
