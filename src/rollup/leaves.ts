/** The length of a rollup's leaves: all of its leaves are stretches of it. */
import { DAY } from "../db/datetime.ts";
import { ALL_LENGTHS, type Length, secondsUpToDay, stretchAt } from "./stretches.ts";

/** How many rows a leaf should have for each owner, and in all: at least, and at most. */
const [ROWS_PER_OWNER, MIN_ROWS, MAX_ROWS] = [8, 250, 8_000];
/** A stored boundary has a row for each owner: a leaf should have three rows of the ledger for each. */
const MIN_ROWS_PER_OWNER = 3;

/** The number of charges and rentals that a leaf of a provider should have on average, at most. */
export function rowsPerLeaf(owners: number): number {
  const rows = Math.min(ROWS_PER_OWNER * owners, MAX_ROWS);
  return Math.max(MIN_ROWS, rows, MIN_ROWS_PER_OWNER * owners);
}

/** The number of rows that are dated on a day ("2026-11-20"). */
export type RowsByDay = ReadonlyMap<string, number>;

/**
 * The longest length whose leaves, if they are not empty, hold on average no more than `limit` rows. Rows
 * of a day count as spread evenly.
 */
export function chooseLeaf(days: RowsByDay, limit: number): Length {
  const rows = days.values().reduce((sum, count) => sum + count, 0);
  const leavesOf = (length: Length) => {
    const inDay = DAY / 1_000 / secondsUpToDay(length);
    if (inDay === 1) {
      return new Set(days.keys().map((day) => stretchAt(`${day} 00:00:00.000`, length).to)).size;
    }
    return days.values().reduce((sum, count) => sum + Math.min(count, inDay), 0);
  };
  return ALL_LENGTHS.findLast((length) => rows <= limit * leavesOf(length)) ?? "PT5M";
}

/** How many steps a length of `ALL_LENGTHS` is shorter than another; negative if it is longer. */
export function stepsShorter(length: Length, other: Length): number {
  return ALL_LENGTHS.indexOf(other) - ALL_LENGTHS.indexOf(length);
}
