/** The segments of a timeline: how many charges they should have, and where they are divided. */
import type { Knex } from "knex";
import { DATED_BY, type LedgerTable } from "../../coverage.ts";
import { monthOf, startOfMonth } from "../../timeline.ts";

/** A segment of a provider's timeline, [from, to); if it ends at `END`, it includes it. */
export interface Segment {
  readonly provider: string;
  readonly from: string;
  readonly to: string;
}

/** Below, checkpoints would outnumber charges. */
const MIN_SIZE = 250;
/**
 * The charges of a segment for each row of totals of a checkpoint. With 3, the rollup would be a
 * third larger, and the first question about a period only 3 to 5 % faster.
 */
const CHARGES_PER_ROW = 4;
/** From here on a segment grows only as far as `MIN_CHARGES_PER_ROW` demands. */
const LARGE_SIZE = 8_000;
/** A checkpoint has at most one row of totals for this many charges, whatever the number of owners. */
const MIN_CHARGES_PER_ROW = 3;

/** The number of servers and instances of a provider, as an SQL expression. So is `provider`. */
export function ownersOf(provider: string): string {
  const [servers, instances] = ["servers", "instances"].map(
    (table) => `(SELECT COUNT(*) FROM ${table} WHERE provider_id = ${provider})`,
  );
  return `(${servers} + ${instances})`;
}

/** The segment size of a provider, in charges. */
export async function segmentSize(database: Knex, provider: string): Promise<number> {
  const [rows] = await database.raw(`SELECT ${ownersOf(":provider")} AS owners`, { provider });
  return sizeFor(Number(rows[0].owners));
}

/**
 * The segment size, in charges, for a number of servers and instances. A checkpoint has one row for
 * each of them. A query reads all of these, and a quarter of a segment of charges at an edge in the past,
 * at about the same cost for a row and a charge; and the rollup should stay smaller than the ledger.
 */
export function sizeFor(owners: number): number {
  return Math.max(
    MIN_SIZE,
    Math.min(CHARGES_PER_ROW * owners, LARGE_SIZE),
    MIN_CHARGES_PER_ROW * owners,
  );
}

/**
 * The next checkpoint in a segment, such that at most `size` charges, starts of rentals or ends of
 * rentals lie before it: the last start of a month, if there is one; otherwise the last instant.
 * Many periods begin or end with a month, and then no rows lie between the checkpoint and their edge.
 *
 * Rows that share one instant are never divided, so there may be more of them than `size`. Returns
 * `to` if the segment needs no further checkpoint.
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
    const [rows] = await reader.raw(
      `SELECT ${column} AS at FROM ${table} WHERE provider_id = ? AND ${column} ${comparison} ?
       ORDER BY ${column} LIMIT 1 OFFSET ${offset}`,
      [provider, from],
    );
    return rows[0]?.at;
  };
  const candidates = [to];
  for (const table of ["charges", "rentals"] as const) {
    for (const column of DATED_BY[table]) {
      let at = await instantAt(table, column, ">=", size);
      if (at === from) at = await instantAt(table, column, ">", 0);
      if (at !== undefined) candidates.push(at);
    }
  }
  const last = candidates.sort()[0] ?? to;
  const month = startOfMonth(monthOf(last));
  return last < to && month > from ? month : last;
}
