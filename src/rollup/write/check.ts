/**
 * Checking a provider's rollup: a slice of it is compared with the ledger at its watermark, and what differs is
 * repaired. Slices come in turn, from `nextFrom` on. One that is a share of the rollup has the next one due that share
 * of the period later (`checkAt`), so all are compared within a period. After a difference the next one is due at once.
 */
import type { Knex } from "knex";
import { FIRST_INSTANT, fromDatetime, LAST_INSTANT, toDatetime } from "../../db/datetime.ts";
import type { Stretch } from "../stretches.ts";
import { readBoundaries } from "./boundaries.ts";
import { hasOutgrown } from "./build.ts";
import { computeChange, writeChange } from "./change.ts";
import { findContradictions, findDamage } from "./damage.ts";
import { purge } from "./purge.ts";
import { DAMAGED } from "./refresh.ts";
import { type Repair, rebuildOf, repairOf } from "./repair.ts";
import { nextSlice } from "./slice.ts";
import { inSnapshot, type Rollup, readRollups } from "./state.ts";

/** The number of charges, starts or ends of rentals that a slice has, about. */
const SLICE_ROWS = 10_000;

/** What became of a check. */
export interface Checked {
  /** Whether more slices are due. */
  readonly more: boolean;
  readonly repair?: Repair | undefined;
  /** The version of the rollup that has to be built anew, if so. */
  readonly outdated?: string;
}

/**
 * Compares the next slice of a provider's rollup with the ledger, and repairs it. If another run
 * changed the rollup in the meantime, nothing is written and the slice stays due.
 *
 * @param period the time within which the whole rollup is compared, in ms
 * @param rows the number of charges, starts or ends of rentals that a slice has, about
 */
export async function checkSlice(
  database: Knex,
  provider: string,
  { period, rows = SLICE_ROWS }: { readonly period: number; readonly rows?: number },
): Promise<Checked> {
  const found = await inSnapshot(database, async (reader) => {
    const { current, build } = await readRollups(reader, provider);
    // A watermark in the future is a case for a build, not for a comparison.
    if (current === undefined || current.watermark > current.now) return undefined;
    const slice = await compareSlice(reader, current, rows);
    return { rollup: current, slice, isBuilding: build !== undefined };
  });
  if (found === undefined) return { more: false };
  const { rollup, slice, isBuilding } = found;
  // A run that was killed after a build has left the rows of the one before.
  if (rollup.nextFrom === FIRST_INSTANT) await purge(database, provider);
  if (slice.change === undefined) {
    // A build that takes many runs is one repair.
    const repair = slice.damaged && !isBuilding ? rebuildOf(provider, DAMAGED) : undefined;
    return { more: false, outdated: rollup.version, repair };
  }
  const { change, next, share } = slice;
  const now = fromDatetime(rollup.now);
  const isLast = next === LAST_INSTANT;
  // A difference may go on behind the slice: what follows is due at once.
  const goesOn = !isLast && change.owners.length + change.quarters.length > 0;
  // After a pause of more than a period all is due, once.
  const due = Math.min(Math.max(fromDatetime(rollup.checkAt), now - period), now);
  const checkAt = Math.round(due + (goesOn ? 0 : period * share));
  const columns = { next_from: isLast ? FIRST_INSTANT : next, check_at: toDatetime(checkAt) };
  if (!(await writeChange(database, change, columns))) return { more: false };
  return { more: !isLast && checkAt <= now, repair: repairOf(change) };
}

/** The part of a rollup that some leaves are, by its stored boundaries: those of all slices add up to 1. */
function shareOf(leaves: readonly Stretch[], stored: readonly string[], isLast: boolean): number {
  if (stored.length === 0) return isLast ? 1 : 0;
  const boundaries = new Set(stored);
  return leaves.filter(({ to }) => boundaries.has(to)).length / stored.length;
}

/** Compares the next slice in a snapshot; without a change the rollup has to be built anew. */
async function compareSlice(reader: Knex.Transaction, rollup: Rollup, rows: number) {
  if (await findDamage(reader, rollup)) return { damaged: true };
  const { nextFrom, watermark } = rollup;
  const stored = await readBoundaries(reader, rollup);
  const { compared, next } = await nextSlice(reader, rollup, stored, nextFrom, rows);
  const stretch = { from: nextFrom, to: next };
  const contradictions = await findContradictions(reader, rollup, stored, stretch);
  if (contradictions.length > 0) return { damaged: true };
  const change = await computeChange(reader, rollup, stored, compared, watermark);
  if (change === "too large") return { damaged: false };
  const isLast = next === LAST_INSTANT;
  if (isLast && (await hasOutgrown(reader, rollup))) return { damaged: false };
  return { change, next, share: shareOf(compared.leaves, stored, isLast) };
}
