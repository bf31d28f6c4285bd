/** How many charges may lie between two checkpoints. */
import type { Knex } from "knex";

/** The bounds: fewer would make many checkpoints of few charges, more would be felt by every answer. */
const [FEWEST, MOST] = [250, 8_000];
/** Reading a few charges costs as much as reading one row of a checkpoint. */
const PER_ROW = 4;

/**
 * The size of a provider's segments, in charges. A checkpoint has a row for each server and
 * instance, and an answer reads as many of them: the raw charges that it reads besides should
 * cost about the same, and the rollup should stay smaller than the ledger.
 */
export async function segmentSize(database: Knex, provider: string): Promise<number> {
  const [rows] = await database.raw(
    `SELECT (SELECT COUNT(*) FROM servers WHERE provider_id = ?)
          + (SELECT COUNT(*) FROM instances WHERE provider_id = ?) AS count`,
    [provider, provider],
  );
  return Math.min(MOST, Math.max(FEWEST, PER_ROW * Number(rows[0].count)));
}
