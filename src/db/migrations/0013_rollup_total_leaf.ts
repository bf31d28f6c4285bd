import type { Knex } from "knex";

/**
 * The length of the leaves of the provider as a whole follows from that of its owners now. The version before
 * still writes the column, so it stays, with a default.
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
