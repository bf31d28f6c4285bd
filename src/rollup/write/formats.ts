/** Deleting the rollups of formats that no program writes any more. */
import type { Knex } from "knex";
import { TABLES } from "../coverage.ts";
import { FORMAT } from "../sums.ts";

/** The time since a check of a rollup of a format was due, after which nobody writes it, in days. */
const UNUSED = 7;
/** The number of rows deleted in one statement. */
const BATCH = 5_000;

/** Deletes the rollups of other formats that nobody has written for a week. */
export async function purgeFormats(database: Knex): Promise<void> {
  const formats: number[] = await database(TABLES.rollups)
    .whereNot({ format: FORMAT })
    .groupBy("format")
    .havingRaw("MAX(check_at) < UTC_TIMESTAMP(3) - INTERVAL ? DAY", [UNUSED])
    .pluck("format");
  for (const format of formats) {
    const providers: string[] = await database(TABLES.rollups)
      .where({ format })
      .pluck("provider_id");
    for (const provider of new Set(providers)) {
      const key = { provider_id: provider, format };
      // A service of that format may still read it: it is no longer read before its sums are deleted.
      await database(TABLES.rollups)
        .where({ ...key, building: 1 })
        .del();
      await database(TABLES.rollups).where(key).update({ building: 1 });
      let deleted = BATCH;
      while (deleted === BATCH) deleted = await database(TABLES.sums).where(key).limit(BATCH).del();
      await database(TABLES.rollups).where(key).del();
    }
  }
}
