import type { Knex } from "knex";

export const table = "rollup_sums";

/**
 * Two sums of the rollup: the instants at which rentals started and ended, added up, in ms. They have a default,
 * for the version before, which writes rows without them. Of a migration that was killed they may be there already.
 */
export async function up(database: Knex): Promise<void> {
  if (await database.schema.hasColumn("rollup_sums", "started_ms")) return;
  await database.raw(`
    ALTER TABLE rollup_sums
      ADD COLUMN started_ms decimal(27,0) NOT NULL DEFAULT 0,
      ADD COLUMN ended_ms decimal(27,0) NOT NULL DEFAULT 0
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw("ALTER TABLE rollup_sums DROP COLUMN started_ms, DROP COLUMN ended_ms");
}
