/** Deleting the rows that nobody reads any more: those of an unused slot, and of formats of the past. */
import type { Knex } from "knex";
import { TABLES } from "../coverage.ts";
import { FORMAT } from "../sums.ts";
import { stateOf } from "./build-state.ts";
import { inShortTransaction, readRollups } from "./state.ts";

/** The time since a check of a rollup of a format was due, after which nobody writes it, in days. */
const UNUSED = 7;
/** The number of rows deleted in one transaction. */
const ROWS_PER_DELETE = 5_000;

/**
 * Deletes sums and increments, a batch in each transaction.
 *
 * @param choose which ones, asked anew in each transaction; undefined for none
 */
async function deleteInBatches(
  database: Knex,
  choose: (transaction: Knex.Transaction) => Promise<object | undefined>,
): Promise<void> {
  for (const table of [TABLES.sums, TABLES.increments]) {
    let deleted: number;
    do {
      deleted = await inShortTransaction(database, async (transaction) => {
        const key = await choose(transaction);
        return key === undefined ? 0 : transaction(table).where(key).limit(ROWS_PER_DELETE).del();
      });
    } while (deleted === ROWS_PER_DELETE);
  }
}

/** Deletes what an earlier rollup has left in the slot that is not used: where a build has no row yet, in its own. */
export function purge(database: Knex, provider: string): Promise<void> {
  return deleteInBatches(database, async (transaction) => {
    const { current, build } = await readRollups(transaction, provider, true);
    if (build && stateOf(build) !== "begun") return undefined;
    const slot = build ? build.slot : current && 1 - current.slot;
    return slot === undefined ? undefined : { provider_id: provider, format: FORMAT, slot };
  });
}

/** Deletes the rollups of other formats that nobody has written for a week. */
export async function purgeFormats(database: Knex): Promise<void> {
  const formats: number[] = await database(TABLES.rollups)
    .whereNot({ format: FORMAT })
    .groupBy("format")
    .havingRaw("MAX(check_at) < UTC_TIMESTAMP(3) - INTERVAL ? DAY", [UNUSED])
    .pluck("format");
  for (const format of formats) {
    for (;;) {
      const row = await database(TABLES.rollups).where({ format }).first("provider_id");
      if (row === undefined) break;
      const { provider_id: provider }: { provider_id: string } = row;
      const key = { provider_id: provider, format };
      // A service of that format may still read it: it is no longer read before its sums are deleted.
      await database(TABLES.rollups)
        .where({ ...key, building: 1 })
        .del();
      await database(TABLES.rollups).where(key).update({ building: 1, next_from: null });
      await deleteInBatches(database, async () => key);
      await database(TABLES.rollups).where(key).del();
    }
  }
}
