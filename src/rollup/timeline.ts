/**
 * The timeline of a rollup: instants as DATETIME(3) text in UTC, which sort in order of time.
 * Checkpoints divide it into segments, each half open: [from, to).
 */

/** The start of the timeline, before every charge. */
export const START = "0001-01-01 00:00:00.000";

/**
 * The end of the timeline, and the last checkpoint of every rollup. Only the segment that ends
 * here includes its end.
 */
export const END = "9999-12-31 23:59:59.999";

/** Two instants, both inclusive. */
export interface Span {
  readonly from: string;
  readonly to: string;
}

/**
 * The segments that overlap any of the spans, in order and without duplicates. Each segment is
 * identified by the index of the checkpoint at its end.
 *
 * @param checkpoints in ascending order; the last one is `END`
 */
export function segmentsOf(spans: readonly Span[], checkpoints: readonly string[]): number[] {
  const overlapped = new Set<number>();
  for (const { from, to } of spans) {
    const last = indexAfter(checkpoints, to);
    for (let index = indexAfter(checkpoints, from); index <= last; index++) overlapped.add(index);
  }
  return [...overlapped].sort((a, b) => a - b);
}

/** The index of the first checkpoint after an instant; of the last checkpoint if there is none. */
export function indexAfter(checkpoints: readonly string[], instant: string): number {
  let [low, high] = [0, checkpoints.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((checkpoints[middle] ?? END) > instant) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The calendar month that contains an instant, as a number: 202611. */
export function monthOf(at: string): number {
  return Number(at.slice(0, 4)) * 100 + Number(at.slice(5, 7));
}

/** The first instant of a calendar month (202611). */
export function startOfMonth(month: number): string {
  const text = String(month).padStart(6, "0");
  return `${text.slice(0, 4)}-${text.slice(4)}-01 00:00:00.000`;
}

/** The first instant after a calendar month (202611); `END` after 999912. */
export function endOfMonth(month: number): string {
  if (month >= monthOf(END)) return END;
  return startOfMonth(month % 100 === 12 ? month + 89 : month + 1);
}
