/** Deleting the generations of a rollup that are no longer used. */
import type { Knex } from "knex";
import { TABLES } from "../tables.ts";
import { inSnapshot, readState } from "./store.ts";

/** The number of rows deleted in one statement. */
const BATCH = 5_000;

/**
 * Deletes the generations before the current one. Later generations are kept: they may be a build
 * that begins while the purge runs.
 */
export async function purge(database: Knex, provider: string): Promise<void> {
  const tables = [TABLES.totals, TABLES.months, TABLES.rentals, TABLES.checkpoints];
  const state = await inSnapshot(database, (reader) => readState(reader, provider));
  const [rows] = await database.raw(
    tables
      .map((table) => `(SELECT MIN(generation) AS oldest FROM ${table} WHERE provider_id = ?)`)
      .join(" UNION ALL "),
    tables.map(() => provider),
  );
  const current = Number(state.generation);
  if (rows.every(({ oldest }: { oldest: number | null }) => (oldest ?? current) >= current)) return;
  for (const table of tables) {
    const generations: number[] = await database(table)
      .distinct("generation")
      .where({ provider_id: provider })
      .andWhere("generation", "<", state.generation)
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
