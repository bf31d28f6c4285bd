/**
 * Turns for large results. What an answer costs the event loop grows with its rows: with 6,000
 * servers it takes 40 ms to make, once for all callers who share it, and some more for each who gets it. If
 * hundreds get a large one at once, all other calls would wait for as long as that takes together. So only so
 * many entries are handed over in each turn of the event loop. Small results never wait.
 */
import type { Message } from "@bufbuild/protobuf";
import { memoize } from "./memoize.ts";

/** Results with fewer rows are small: they take less than a millisecond. */
const SMALL = 250;
/** Rows of large results in one turn. A result with more is also paid for by the turns after it. */
const ROWS_PER_TURN = 4_000;

/** Waits for a turn for a result with so many rows; undefined if there is nothing to wait for. */
export type WaitForTurn = (rows: number) => Promise<void> | undefined;

/** Creates the turns of one process. */
export function createTurns(): WaitForTurn {
  const waiting: { readonly rows: number; readonly resolve: () => void }[] = [];
  let left = ROWS_PER_TURN;
  let scheduled = false;

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(startTurn);
  }

  function startTurn(): void {
    scheduled = false;
    left = Math.min(left + ROWS_PER_TURN, ROWS_PER_TURN);
    while (left > 0) {
      const next = waiting.shift();
      if (next === undefined) break;
      left -= next.rows;
      next.resolve();
    }
    if (left < ROWS_PER_TURN) schedule();
  }

  return (rows) => {
    if (rows < SMALL) return undefined;
    schedule();
    if (left > 0 && waiting.length === 0) {
      left -= rows;
      return undefined;
    }
    return new Promise((resolve) => waiting.push({ rows, resolve }));
  };
}

/** How many entries the lists of a response have, and the lists in these: what corresponds to rows. */
export const entriesOf = memoize((response: Message) => countEntries(response));

function countEntries(value: object): number {
  let count = 0;
  for (const field of Object.values(value)) {
    if (!Array.isArray(field)) continue;
    count += field.length;
    for (const entry of field) if (typeof entry === "object") count += countEntries(entry);
  }
  return count;
}
