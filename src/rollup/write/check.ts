/**
 * Checking a provider's rollup: a slice of it is compared with the ledger at its watermark, and what
 * differs is repaired. Slices come in turn, so that all have been compared within a period.
 */
import type { Knex } from "knex";
import { fromDatetime, toDatetime } from "../../db/datetime.ts";
import { FIRST_INSTANT, LAST_INSTANT, type Leaf } from "../leaves.ts";
import { isDamaged, misplacedBoundary, readBoundaries } from "./boundaries.ts";
import { hasOutgrown } from "./build.ts";
import { computeChange } from "./change.ts";
import { damagedRollup, type Repair, writeRepairs } from "./repair.ts";
import { nextSlice } from "./spans.ts";
import { inSnapshot, type Rollup, readRollups } from "./state.ts";

/** The number of charges, starts or ends of rentals that a slice has, about. */
const SLICE_ROWS = 10_000;
/** A slice counts as due this many ms early, so that a period of a second means every run. */
export const DUE_EARLY = 1_000;
/** Slices come earlier by up to this share of their interval, so that they spread out. */
const JITTER = 0.1;

/** When to check. */
export interface CheckOptions {
  /** The time within which the whole rollup is compared, in ms. */
  readonly period: number;
  /** Called with each difference that was found and removed. */
  readonly repaired: (repair: Repair) => void;
  /** The number of charges, starts or ends of rentals that a slice has, about. Default: `SLICE_ROWS`. */
  readonly rows?: number;
}

/** What became of a check: whether more slices are due, or a new build is needed. */
export type Checked = "more" | "done" | "build";

/**
 * Compares the next slice of a provider's rollup with the ledger, and repairs it. If another run
 * changed the rollup in the meantime, nothing is written and the slice stays due.
 */
export async function checkSlice(
  database: Knex,
  provider: string,
  { period, repaired, rows = SLICE_ROWS }: CheckOptions,
): Promise<Checked> {
  const found = await inSnapshot(database, async (reader) => {
    const { current } = await readRollups(reader, provider);
    // A watermark in the future is a case for a build, not for a comparison.
    if (current === undefined || current.watermark > current.now) return undefined;
    return compareSlice(reader, current, rows);
  });
  if (found === undefined) return "done";
  const { rollup, change, next, share, damaged, outgrown } = found;
  if (damaged) repaired(damagedRollup(provider, rollup.watermark));
  if (change === "too large" || damaged || outgrown) return "build";
  const now = fromDatetime(rollup.now);
  const isLast = next === LAST_INSTANT;
  // A difference may go on behind the slice: what follows is compared at once.
  const isDone = isLast || change.differences.length === 0;
  const inTurn = nextTime(fromDatetime(rollup.checkAt), now, period, share);
  const checkAt = isDone ? inTurn : Math.min(inTurn, now);
  const columns = { next_from: isLast ? FIRST_INSTANT : next, check_at: toDatetime(checkAt) };
  if (!(await writeRepairs(database, change, repaired, columns))) return "done";
  return !isLast && checkAt - now <= DUE_EARLY ? "more" : "done";
}

/** When the next slice is due. After a pause, several are due at once. Times are in epoch ms. */
function nextTime(checkAt: number, now: number, period: number, share: number): number {
  const interval = period * share;
  // A time that lies more than a period away was set for another period.
  const isFar = Math.abs(checkAt - now) > period + DUE_EARLY;
  // An early check gives no credit: the next slice may not have been compared for nearly a period.
  if (!isFar && checkAt - now > DUE_EARLY) return Math.round(now + interval);
  const next = (isFar ? now - period : checkAt) + interval;
  const spread = next > now ? interval * JITTER * Math.random() : 0;
  return Math.round(next - spread);
}

/** The part of a rollup that some leaves are, by its stored boundaries: those of all slices add up to 1. */
function shareOf(leaves: readonly Leaf[], stored: readonly string[], isLast: boolean): number {
  if (stored.length === 0) return isLast ? 1 : 0;
  const boundaries = new Set(stored);
  return leaves.filter(({ to }) => boundaries.has(to)).length / stored.length;
}

/** Compares the next slice in a snapshot. */
async function compareSlice(reader: Knex.Transaction, rollup: Rollup, rows: number) {
  const boundaries = await readBoundaries(reader, rollup);
  const from = rollup.nextFrom ?? FIRST_INSTANT;
  const { compared, next } = await nextSlice(reader, rollup, boundaries, from, rows);
  const change = await computeChange(reader, rollup, boundaries, compared, rollup.watermark);
  return {
    rollup,
    change,
    next,
    share: shareOf(compared.leaves, boundaries.owners, next === LAST_INSTANT),
    /** Whether rows of it were changed or lost. */
    damaged:
      misplacedBoundary(boundaries, rollup) !== undefined ||
      (await isDamaged(reader, rollup, boundaries)),
    /** Whether its leaves are too long by now. */
    outgrown: next === LAST_INSTANT && (await hasOutgrown(reader, rollup)),
  };
}
