/** The order of the rows in an answer: money descending, then name, then id. */
import type { Cents } from "../db/cents.ts";

export interface Ranked {
  readonly gross: Cents;
  readonly name: string;
  /** The database's id, a decimal number of up to 20 digits. */
  readonly id: string;
}

/** Compares two rows for `sort`. Names are compared by code point, as the database does. */
export function byRank(a: Ranked, b: Ranked): number {
  if (a.gross !== b.gross) return a.gross > b.gross ? -1 : 1;
  return compareCodePoints(a.name, b.name) || compareIds(a.id, b.id);
}

function compareIds(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Compares by code point. `<` on strings compares UTF-16 units, in which an emoji (two
 * surrogates) sorts before a character at the end of the first plane.
 */
function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [left, right] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (left === right) continue;
    const [leftIsSurrogate, rightIsSurrogate] = [isSurrogate(left), isSurrogate(right)];
    if (leftIsSurrogate !== rightIsSurrogate) return leftIsSurrogate ? 1 : -1;
    return left - right;
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}
