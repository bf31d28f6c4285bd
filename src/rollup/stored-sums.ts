/** The stored sums of a rollup as a statement reads them, and the increments between them. */
import { minus, NO_SUMS, parseSum, type SumName, type Sums, sumsFrom } from "./sums.ts";

/** A row of sums. A column that it does not have is zero. */
export type SumsRow = { readonly [Name in SumName]?: string };

/** The number of charges that rows sum. */
export function countCharges(rows: readonly { readonly charges: string }[]): number {
  return rows.reduce((sum, { charges }) => sum + Number(charges), 0);
}

/** Parses a row. */
export function sumsOf(row: SumsRow): Sums {
  return sumsFrom((name) => {
    const text = row[name];
    return text === undefined ? 0n : parseSum(name, text);
  });
}

/**
 * What is covered between boundaries: for each row the end of a stretch, and its sums without those of the
 * boundary before it. They come in order of time.
 *
 * @param before the row of the boundary before the first one; undefined if there is none
 */
export function* increments(
  before: SumsRow | undefined,
  boundaries: readonly (SumsRow & { readonly at: string })[],
): Generator<readonly [at: string, sums: Sums]> {
  let sums = before === undefined ? NO_SUMS : sumsOf(before);
  for (const row of boundaries.toSorted((one, other) => (one.at < other.at ? -1 : 1))) {
    const upTo = sumsOf(row);
    yield [row.at, minus(upTo, sums)];
    sums = upTo;
  }
}
