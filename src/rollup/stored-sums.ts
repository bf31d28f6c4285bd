/** The stored sums of a rollup as a statement reads them. */
import { parseSum, type SumName, type Sums, sumsFrom } from "./sums.ts";

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
