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

function compareIds(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Compares by code point. `<` compares UTF-16 code units, so that surrogates, which stand for
 * code points from U+10000 on, sort before U+E000 to U+FFFF.
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
