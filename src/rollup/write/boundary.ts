/** Where to divide a segment. */
import type { Knex } from "knex";
import { DATED_BY, type LedgerTable } from "../coverage.ts";
import { nextMonth } from "../timeline.ts";
import type { Segment } from "./ledger.ts";

/**
 * The next checkpoint in a segment: the earliest instant after `from` such that at most `size`
 * charges, starts of rentals or ends of rentals lie before it, and all charges before it belong to
 * one calendar month. Rows that share one instant are never divided, so there may be more of them
 * than `size`. Returns `to` if the segment needs no further checkpoint.
 */
export async function nextBoundary(
  reader: Knex.Transaction,
  { provider, from, to }: Segment,
  size: number,
): Promise<string> {
  /** The instant of the row at `offset` of those dated from (`>=`) or after (`>`) `from`. */
  const instantAt = async (
    table: LedgerTable,
    column: string,
    comparison: ">=" | ">",
    offset: number,
  ): Promise<string | undefined> => {
    const [rows] = await reader.raw<[{ at: string }[], unknown]>(
      `SELECT ${column} AS at FROM ${table} WHERE provider_id = ? AND ${column} ${comparison} ?
       ORDER BY ${column} LIMIT 1 OFFSET ${offset}`,
      [provider, from],
    );
    return rows[0]?.at;
  };
  const candidates = [to];
  const firstCharge = await instantAt("charges", "charged_at", ">=", 0);
  if (firstCharge !== undefined) candidates.push(nextMonth(firstCharge));
  for (const table of ["charges", "rentals"] as const) {
    for (const column of DATED_BY[table]) {
      let at = await instantAt(table, column, ">=", size);
      if (at === from) at = await instantAt(table, column, ">", 0);
      if (at !== undefined) candidates.push(at);
    }
  }
  return candidates.sort()[0] ?? to;
}
