/**
 * The timeline of a rollup: instants as the database writes them, DATETIME(3) in UTC, which
 * compare as text. Segments are half open: [from, to).
 */

/** Before every charge. */
export const START = "0001-01-01 00:00:00.000";
/** The last checkpoint, which stands for all of time: what is dated at it belongs to it too. */
export const END = "9999-12-31 23:59:59.999";

/**
 * The segments that spans reach into, each by the checkpoint that ends it, in order.
 *
 * @param checkpoints in order; the last is END
 */
export function segmentsOf(
  spans: readonly { readonly from: string; readonly to: string }[],
  checkpoints: readonly string[],
): string[] {
  const reached = new Set<number>();
  for (const { from, to } of spans) {
    const last = indexAfter(checkpoints, to);
    for (let index = indexAfter(checkpoints, from); index <= last; index++) reached.add(index);
  }
  return [...reached].sort((a, b) => a - b).map((index) => checkpoints[index] ?? END);
}

/** The index of the first checkpoint after an instant; of the last one where there is none. */
function indexAfter(checkpoints: readonly string[], instant: string): number {
  let [low, high] = [0, checkpoints.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((checkpoints[middle] ?? END) > instant) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The first instant of the month after the one that an instant lies in. */
export function nextMonth(at: string): string {
  const [year, month] = [Number(at.slice(0, 4)), Number(at.slice(5, 7))];
  if (year === 9999 && month === 12) return END;
  const next = year * 12 + month; // months are counted from 1, so this is the next one from 0
  return `${pad(Math.floor(next / 12), 4)}-${pad((next % 12) + 1, 2)}-01 00:00:00.000`;
}

/** The month that ends at or after an instant, the instant itself left out, as 202611. */
export function monthBefore(at: string): number {
  const year = Number(at.slice(0, 4));
  const month = Number(at.slice(5, 7));
  const isFirstInstant = at.slice(8) === "01 00:00:00.000";
  const index = year * 12 + month - 1 - (isFirstInstant ? 1 : 0);
  return Math.floor(index / 12) * 100 + (index % 12) + 1;
}

function pad(number: number, digits: number): string {
  return String(number).padStart(digits, "0");
}
