/**
 * Prefix sums: the totals of the covered charges that are dated up to an instant. The revenue of a
 * period is the difference of two. They are cached, each as the base for later instants before the
 * next checkpoint.
 *
 * The totals of a rollup change only with its state. The charges between an instant and a checkpoint
 * may also change against what is assumed of writers: one commits late, or is changed or deleted. So
 * a statement that completes a cached prefix sum adds them up again.
 */
import { type Cents, formatCents, parseCents } from "../../db/cents.ts";
import { lastInstantOf } from "../../rollup/read/sql.ts";
import { END, START } from "../../rollup/timeline.ts";
import { TotalsByOwner } from "./totals.ts";

/** Where a prefix sum is made. Instants are DATETIME(3) text. */
export interface Place {
  /** The instant. Charges at it are counted. */
  readonly at: string;
  /** The checkpoint whose totals it is made from; `START`, if it is made from charges alone. */
  readonly checkpoint: string;
}

/** The prefix sum at an instant. */
export interface PrefixSum extends Place {
  /** The first checkpoint after the instant. */
  readonly next: string;
  /** The covered charges between the instant and the totals at the checkpoint. */
  readonly between: Sum;
  /** When these were last read, on the clock of `performance.now()`. */
  verifiedAt: number;
  /** The totals of charges at the instant, and those of rentals at the checkpoint. */
  readonly byOwner: TotalsByOwner;
}

/** Charges: their number and their gross. */
interface Sum {
  readonly charges: number;
  readonly gross: Cents;
}

/** A row of charges of an owner, which a query added up. */
export interface ChargesRow {
  readonly server: string;
  readonly instance: string;
  readonly gross: string;
  readonly charges: string;
}

/** A row of the totals of an owner at a checkpoint. */
export interface TotalsRow extends ChargesRow {
  readonly started: string;
  readonly ended: string;
}

/** From this number of charges on, those between are verified once in `VERIFY_INTERVAL` only. */
const MANY_CHARGES = 3_000;
/** In ms. */
const VERIFY_INTERVAL = 1_000;
/** The number of charges since a cached prefix sum from which the later one is cached too. */
const MIN_CHARGES_TO_CACHE = 250;

/** The prefix sum at a place, from the totals at the checkpoint and the charges between the two. */
export function prefixSum(
  { at, checkpoint }: Place,
  next: string,
  totals: readonly TotalsRow[],
  charges: readonly ChargesRow[],
  verifiedAt: number,
): PrefixSum {
  const byOwner = new TotalsByOwner();
  for (const row of totals) {
    byOwner.add(row, {
      gross: parseCents(row.gross),
      charges: Number(row.charges),
      started: Number(row.started),
      ended: Number(row.ended),
    });
  }
  const isBefore = isBeforeCheckpoint({ at, checkpoint });
  for (const row of charges) {
    if (isBefore) byOwner.subtract(row, amountsOf(row));
    else byOwner.add(row, amountsOf(row));
  }
  return { at, checkpoint, next, between: sumOf(charges), verifiedAt, byOwner };
}

/** The prefix sum at a later instant that a base is for, with the charges since. */
export function laterPrefixSum(
  at: string,
  base: PrefixSum,
  since: readonly ChargesRow[],
): PrefixSum {
  const byOwner = base.byOwner.copy();
  for (const row of since) byOwner.add(row, amountsOf(row));
  const { charges, gross } = sumOf(since);
  const sign = isBeforeCheckpoint(base) ? -1 : 1;
  const between = {
    charges: base.between.charges + sign * charges,
    gross: base.between.gross + BigInt(sign) * gross,
  };
  return { ...base, at, between, byOwner };
}

/** Whether the totals at the checkpoint count charges after the instant, which are then subtracted. */
export function isBeforeCheckpoint({ at, checkpoint }: Place): boolean {
  return checkpoint !== START && at <= lastInstantOf(checkpoint);
}

/** Whether a prefix sum is the base for that at an instant: no checkpoint lies between. */
export function isBaseFor({ at, next }: PrefixSum, instant: string): boolean {
  // The last checkpoint, END, has no instant after it.
  return at <= instant && (instant < next || next === END);
}

/** Whether there are so many charges since a base that the later prefix sum is worth caching. */
export function isWorthCaching(since: readonly ChargesRow[]): boolean {
  return sumOf(since).charges >= MIN_CHARGES_TO_CACHE;
}

/** Whether the charges between must be read again at `now`, on the clock of `verifiedAt`. */
export function mustVerify(bases: readonly PrefixSum[], now: number): boolean {
  const charges = bases.reduce((sum, { between }) => sum + between.charges, 0);
  return (
    charges < MANY_CHARGES || bases.some(({ verifiedAt }) => now - verifiedAt >= VERIFY_INTERVAL)
  );
}

/** Whether charges found are those between: "3 12.50". "" means no rollup, and so no charges. */
export function isUnchanged({ between: { charges, gross } }: PrefixSum, found: string): boolean {
  return `${charges} ${formatCents(gross)}` === (found || "0 0.00");
}

/** The amounts of a row of charges. */
export function amountsOf({ gross, charges }: Pick<ChargesRow, "gross" | "charges">) {
  return { gross: parseCents(gross), charges: Number(charges) };
}

/** The number and the gross of the charges in rows. */
export function sumOf(rows: readonly Pick<ChargesRow, "gross" | "charges">[]): Sum {
  let [charges, gross] = [0, 0n];
  for (const row of rows) {
    charges += Number(row.charges);
    gross += parseCents(row.gross);
  }
  return { charges, gross };
}
