/** Makes the rows of a page, a few at a time, as long as there is time. */
import pLimit from "p-limit";
import { ServiceError } from "../../errors.ts";
import type { TimedContext } from "../../handler.ts";

/** So many rows of a page are made at once: a page takes no more of the database than two other calls would. */
const AT_ONCE = 2;
/** The part of the time left in which rows are made. In the rest the page is written, and travels. */
const TIME_FOR_ROWS = 0.8;

/**
 * Makes a row of each item, in their order. The page ends before the first row that is not made in time, or for which
 * no connection becomes free: it has a first one in any case. No row begins once the signal has aborted.
 *
 * Rejects with the signal's reason, or with what fails otherwise.
 *
 * @param make its signal aborts when the row is not needed any more
 */
export async function rowsInTime<Item, Row>(
  items: readonly Item[],
  make: (item: Item, signal: AbortSignal) => Promise<Row>,
  { signal, deadline }: Pick<TimedContext, "signal" | "deadline">,
): Promise<readonly Row[]> {
  const ending = new AbortController();
  const endPage = () => ending.abort(new Error("the page ends"));
  const timer = setTimeout(endPage, Math.max(0, deadline - performance.now()) * TIME_FOR_ROWS);
  const untilEnd = AbortSignal.any([signal, ending.signal]);
  const limit = pLimit(AT_ONCE);

  async function rowOrEnd(item: Item): Promise<Row | undefined> {
    signal.throwIfAborted();
    if (ending.signal.aborted) return undefined;
    try {
      return await make(item, untilEnd);
    } catch (error) {
      const isFull = error instanceof ServiceError && error.kind === "overloaded";
      const isLate = ending.signal.aborted;
      // Whatever it was, no row begins after it.
      endPage();
      signal.throwIfAborted();
      if (isLate || isFull) return undefined;
      throw error;
    }
  }

  try {
    const rows = await Promise.all(
      items.map((item, nth) => limit(() => (nth === 0 ? make(item, signal) : rowOrEnd(item)))),
    );
    const end = rows.indexOf(undefined);
    return (end < 0 ? rows : rows.slice(0, end)) as readonly Row[];
  } finally {
    clearTimeout(timer);
    endPage();
  }
}
