/** Deleting the generations of a rollup that are no longer used. */
import type { Knex } from "knex";
import { NO_GENERATION } from "../coverage.ts";
import { TABLES } from "../tables.ts";

/** The number of rows deleted in one statement. */
const BATCH = 5_000;

/**
 * Deletes the generations before the current one. Later generations are kept: they may be a build
 * that begins while the purge runs.
 */
export async function purge(database: Knex, provider: string): Promise<void> {
  const tables = [TABLES.totals, TABLES.months, TABLES.rentals, TABLES.checkpoints];
  const [[state]] = await database.raw(
    `SELECT ${tables.map((table) => `(SELECT MIN(generation) FROM ${table} WHERE provider_id = :provider) AS ${table}`)},
       (SELECT generation FROM ${TABLES.state} WHERE provider_id = :provider) AS current`,
    { provider },
  );
  const current = Number(state.current ?? NO_GENERATION);
  if (tables.every((table) => Number(state[table] ?? current) >= current)) return;
  for (const table of tables) {
    const generations: number[] = await database(table)
      .distinct("generation")
      .where({ provider_id: provider })
      .andWhere("generation", "<", current)
      .pluck("generation");
    for (const generation of generations) {
      let deleted: number;
      do {
        deleted = await database(table)
          .where({ provider_id: provider, generation })
          .limit(BATCH)
          .del();
      } while (deleted === BATCH);
    }
  }
}
