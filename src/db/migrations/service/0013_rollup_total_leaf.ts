import type { Knex } from "knex";

export const table = "rollups";

/**
 * A default for what the provider as a whole has all boundaries of. When this was written its leaves were those of
 * its owners, and the column was no longer used. It is again, and every row of a format since then has a value; the
 * default, which is no length, is of rows that are older.
 */
export async function up(database: Knex): Promise<void> {
  await database.raw(`
    ALTER TABLE rollups
      MODIFY total_leaf varchar(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT ''
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw(`
    ALTER TABLE rollups
      MODIFY total_leaf varchar(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL
  `);
}
