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
 * identified by the checkpoint at its end.
 *
 * @param checkpoints in ascending order; the last one is `END`
 */
export function segmentsOf(spans: readonly Span[], checkpoints: readonly string[]): string[] {
  const overlapped = new Set<number>();
  for (const { from, to } of spans) {
    const last = indexAfter(checkpoints, to);
    for (let index = indexAfter(checkpoints, from); index <= last; index++) overlapped.add(index);
  }
  return [...overlapped].sort((a, b) => a - b).map((index) => checkpoints[index] ?? END);
}

/** The index of the first checkpoint after an instant; of the last checkpoint if there is none. */
function indexAfter(checkpoints: readonly string[], instant: string): number {
  let [low, high] = [0, checkpoints.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((checkpoints[middle] ?? END) > instant) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The first instant of the calendar month after the month that contains `at`; `END` after 9999-12. */
export function nextMonth(at: string): string {
  const month = Temporal.PlainYearMonth.from(at.slice(0, 7));
  if (month.toString() === END.slice(0, 7)) return END;
  return `${month.add({ months: 1 })}-01 00:00:00.000`;
}

/** The calendar month of the last instant before `at`, as a number: 202611. */
export function monthBefore(at: string): number {
  const isFirstInstant = at.slice(8) === "01 00:00:00.000";
  const { year, month } = Temporal.PlainYearMonth.from(at.slice(0, 7)).subtract({
    months: isFirstInstant ? 1 : 0,
  });
  return year * 100 + month;
}
