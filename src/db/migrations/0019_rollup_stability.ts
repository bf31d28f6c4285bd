import type { Knex } from "knex";

/**
 * What stays the same in a rollup, so that a cache need not read it again after a refresh: the
 * totals at checkpoints before `stable_before` have not changed since revision `stable_since`, whose
 * watermark was `stable_since_cut`. That holds for revision `stable_until`. It says nothing about
 * the current one if that is another, written by a version that does not know these columns.
 */
export async function up(database: Knex): Promise<void> {
  if (await database.schema.hasColumn("rollups", "stable_before")) return;
  await database.raw(`
    ALTER TABLE rollups
      ADD COLUMN stable_before datetime(3) NULL,
      ADD COLUMN stable_since int unsigned NULL,
      ADD COLUMN stable_since_cut datetime(3) NULL,
      ADD COLUMN stable_until int unsigned NULL
  `);
}

export async function down(database: Knex): Promise<void> {
  if (!(await database.schema.hasColumn("rollups", "stable_before"))) return;
  await database.raw(`
    ALTER TABLE rollups
      DROP COLUMN stable_before, DROP COLUMN stable_since,
      DROP COLUMN stable_since_cut, DROP COLUMN stable_until
  `);
}
