/**
 * The gross per calendar month, from the checkpoints: the gross before the end of the month minus
 * the gross before its start. Where a boundary lies inside a segment, its charges are read.
 */
import type { Knex } from "knex";
import { END, endOfMonth, indexAfter, monthOf, START, startOfMonth } from "../timeline.ts";
import type { Segment } from "./ledger/segment.ts";
import { sumMonths } from "./ledger/sums.ts";
import { readMonths, type Version } from "./store.ts";

/** A checkpoint, and the gross of everything dated before it, in cents. */
export interface Checkpoint {
  readonly at: string;
  readonly gross: bigint;
}

/**
 * What the stored gross of each month that overlaps some segments lacks, in cents, by month
 * (202611). Months that are right are left out.
 *
 * @param checkpoints as they will be at the watermark
 * @param segments the indexes of the checkpoints at their ends
 */
export async function missingByMonth(
  reader: Knex.Transaction,
  version: Version,
  checkpoints: readonly Checkpoint[],
  segments: readonly number[],
  watermark: string,
): Promise<Map<number, bigint>> {
  const instants = checkpoints.map(({ at }) => at);
  const segmentAt = (index: number): Segment => ({
    provider: version.provider,
    from: instants[index - 1] ?? START,
    to: instants[index] ?? END,
  });
  const read = new Map<number, Promise<Map<number, bigint>>>();
  const monthsIn = (index: number) =>
    read.getOrInsertComputed(index, () => sumMonths(reader, segmentAt(index), watermark));

  /** The gross of everything before an instant at which a month starts or ends. */
  const grossBefore = async (at: string): Promise<bigint> => {
    if (at === END) return checkpoints.at(-1)?.gross ?? 0n;
    const index = indexAfter(instants, at);
    const before = checkpoints[index - 1]?.gross ?? 0n;
    if (segmentAt(index).from === at) return before;
    const earlier = [...(await monthsIn(index))].filter(([month]) => month < monthOf(at));
    return earlier.reduce((sum, [, gross]) => sum + gross, before);
  };

  const stored = await readMonths(reader, version);
  const months = new Set<number>();
  for (const index of segments) {
    const { from, to } = segmentAt(index);
    for (const month of stored.keys()) {
      if (startOfMonth(month) < to && endOfMonth(month) > from) months.add(month);
    }
    if (to <= endOfMonth(monthOf(from))) months.add(monthOf(from));
    else for (const month of (await monthsIn(index)).keys()) months.add(month);
  }
  const missing = new Map<number, bigint>();
  for (const month of months) {
    const before = await grossBefore(startOfMonth(month));
    const gross = (await grossBefore(endOfMonth(month))) - before;
    const lacking = gross - (stored.get(month) ?? 0n);
    if (lacking !== 0n) missing.set(month, lacking);
  }
  return missing;
}
