/**
 * Turns for large results. What an answer costs the event loop grows with its rows: with 6,000
 * servers it is 40 ms. If several large ones come at once, all other calls would wait for as long as
 * they take together. So only so many rows are handed over in each turn of the event loop. Small
 * results never wait.
 */

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
