/**
 * Cached totals of a breakdown: for which periods they are the base, and whether the charges that
 * they took from the ledger itself are still the same.
 *
 * The totals of a rollup change only with its state. The charges between its checkpoints and the
 * edges of a period may also change against what is assumed of writers: one commits late, or is
 * changed or deleted. So a statement that completes cached totals adds them up again.
 */
import { type Cents, formatCents, parseCents } from "../../db/cents.ts";
import { END } from "../../rollup/timeline.ts";
import type { TotalsByOwner } from "./totals.ts";

/**
 * Totals of the covered charges of a period, and of the covered rentals between the checkpoints
 * around it. All instants are DATETIME(3) text.
 */
export interface CachedTotals {
  readonly start: string;
  readonly end: string;
  /** The last checkpoint at or before the start. */
  readonly beforeStart: string;
  /** The first checkpoints after the edges. */
  readonly afterStart: string;
  readonly afterEnd: string;
  /** The covered charges between the checkpoints and the edges. */
  readonly edges: Edges;
  /** When these were last read, on the clock of `performance.now()`. */
  verifiedAt: number;
  readonly byOwner: TotalsByOwner;
}

/** Charges of both edges of a period. */
interface Edges {
  /** The number and the gross of the charges before the start: "3 12.50". */
  readonly start: string;
  /** The same of those after the end. */
  readonly end: string;
  /** The number of charges at both. */
  readonly charges: number;
}

/** Rows of charges that a query grouped. */
type ChargesRows = readonly { readonly gross: string; readonly charges: string }[];

/** The number of charges from which those of the edges are not added up for every answer. */
const MANY_CHARGES = 3_000;
/** How long so many are relied on without that, in ms. */
const RELIED_ON = 1_000;

/** Whether totals are the base for a later period: neither edge has passed a checkpoint. */
export function fitsPeriod(totals: CachedTotals, start: string, end: string): boolean {
  return (
    isWithin(start, totals.start, totals.afterStart) && isWithin(end, totals.end, totals.afterEnd)
  );
}

/** Whether `instant` is in [from, checkpoint). The last checkpoint, END, has no instant after it. */
function isWithin(instant: string, from: string, checkpoint: string): boolean {
  return from <= instant && (instant < checkpoint || checkpoint === END);
}

/** The charges of the edges, from the rows of the full query. */
export function edgesOf(beforeStart: ChargesRows, afterEnd: ChargesRows): Edges {
  return {
    start: `${countOf(beforeStart)} ${formatCents(grossOf(beforeStart))}`,
    end: `${countOf(afterEnd)} ${formatCents(grossOf(afterEnd))}`,
    charges: countOf(beforeStart) + countOf(afterEnd),
  };
}

/** The number of charges in rows. */
export function countOf(rows: ChargesRows): number {
  return rows.reduce((sum, { charges }) => sum + Number(charges), 0);
}

function grossOf(rows: ChargesRows): Cents {
  return rows.reduce((sum, { gross }) => sum + parseCents(gross), 0n);
}

/** Whether the charges of the edges must be read again at `now`, on the clock of `verifiedAt`. */
export function mustVerify({ edges, verifiedAt }: CachedTotals, now: number): boolean {
  return edges.charges < MANY_CHARGES || now - verifiedAt >= RELIED_ON;
}

/** Whether the edges found are those of the totals. "" means no rollup, and so no charges. */
export function areUnchanged(
  { edges }: CachedTotals,
  [found]: readonly { readonly edgeAtStart: string; readonly edgeAtEnd: string }[],
): boolean {
  const none = "0 0.00";
  return edges.start === (found?.edgeAtStart || none) && edges.end === (found?.edgeAtEnd || none);
}
