/**
 * The gross per calendar month, from the checkpoints: the gross before the end of the month minus
 * the gross before its start. Where a boundary lies inside a segment, its charges are read.
 */
import type { Knex } from "knex";
import { END, endOfMonth, indexAfter, monthOf, START, startOfMonth } from "../timeline.ts";
import type { Segment } from "./ledger/segment.ts";
import { sumMonths } from "./ledger/sums.ts";
import { type Checkpoint, readMonths, type Version } from "./store.ts";

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
  const isWithinMonth = ({ from, to }: Segment) => to <= endOfMonth(monthOf(from));
  const read = new Map<number, ReadonlyMap<number, bigint>>();
  const readMonthsIn = async (indexes: readonly number[]) => {
    const sums = await sumMonths(reader, indexes.map(segmentAt), watermark);
    for (const [nth, months] of sums.entries()) read.set(indexes[nth] ?? 0, months);
  };
  const monthsIn = async (index: number) => {
    if (!read.has(index)) await readMonthsIn([index]);
    return read.get(index) ?? new Map<number, bigint>();
  };
  await readMonthsIn(segments.filter((index) => !isWithinMonth(segmentAt(index))));

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
    const segment = segmentAt(index);
    const { from, to } = segment;
    for (const month of stored.keys()) {
      if (startOfMonth(month) < to && endOfMonth(month) > from) months.add(month);
    }
    if (isWithinMonth(segment)) months.add(monthOf(from));
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
