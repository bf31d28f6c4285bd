/** The order of servers and instances in a response: gross descending, then name, then id. */
import type { Cents } from "../db/cents.ts";

/** The fields that determine the order. */
export interface Ranked {
  readonly gross: Cents;
  readonly name: string;
  /** The id in the database: an unsigned integer of up to 20 digits. */
  readonly id: string;
}

/** Compares two rows for `sort`. Names are compared by code point, as in the database's collation. */
export function byRank(a: Ranked, b: Ranked): number {
  if (a.gross !== b.gross) return a.gross > b.gross ? -1 : 1;
  return compareCodePoints(a.name, b.name) || compareIds(a.id, b.id);
}

/** Compares two ids of the database for `sort`: unsigned integers of up to 20 digits. */
export function compareIds(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Compares by code point. `<` compares UTF-16 code units, which sorts U+10000 before U+E000. */
function compareCodePoints(a: string, b: string): number {
  let i = 0;
  while (i < a.length && a[i] === b[i]) i++;
  return (a.codePointAt(i) ?? -1) - (b.codePointAt(i) ?? -1);
}
