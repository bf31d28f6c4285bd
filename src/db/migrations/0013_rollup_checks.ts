import type { Knex } from "knex";

/**
 * What a rollup is trusted by. `revision` counts the writes to the totals of the current
 * generation, so that a cache knows when they changed under the same watermark. The ledger is
 * compared with the rollup slice by slice: the next slice begins at `check_from` (event time) and
 * is due at `check_at` (the database's clock).
 */
export async function up(database: Knex): Promise<void> {
  if (await database.schema.hasColumn("rollups", "revision")) return;
  await database.raw(`
    ALTER TABLE rollups
      ADD COLUMN revision int unsigned NOT NULL DEFAULT 0,
      ADD COLUMN check_from datetime(3) NOT NULL DEFAULT '0001-01-01 00:00:00.000',
      ADD COLUMN check_at datetime(3) NOT NULL DEFAULT '1000-01-01 00:00:00.000',
      ADD KEY rollups_by_check (check_at)
  `);
}

export async function down(database: Knex): Promise<void> {
  if (!(await database.schema.hasColumn("rollups", "revision"))) return;
  await database.raw(`
    ALTER TABLE rollups
      DROP KEY rollups_by_check,
      DROP COLUMN revision, DROP COLUMN check_from, DROP COLUMN check_at
  `);
}
