/** How many charges lie between two checkpoints. */
import type { Knex } from "knex";

/** The bounds. Below, checkpoints would outnumber charges; above, every query would slow down. */
const [MIN_SIZE, MAX_SIZE] = [250, 8_000];
/** Reading this many charges costs as much as reading one row of totals. */
const CHARGES_PER_ROW = 4;

/**
 * The segment size of a provider, in charges. A checkpoint has one row for each server and
 * instance. A query reads all of them, and up to a segment of charges: both should cost about the
 * same, and the rollup should stay smaller than the ledger.
 */
export async function segmentSize(database: Knex, provider: string): Promise<number> {
  const [rows] = await database.raw(
    `SELECT (SELECT COUNT(*) FROM servers WHERE provider_id = ?)
          + (SELECT COUNT(*) FROM instances WHERE provider_id = ?) AS count`,
    [provider, provider],
  );
  return Math.min(MAX_SIZE, Math.max(MIN_SIZE, CHARGES_PER_ROW * Number(rows[0].count)));
}
