import type { Knex } from "knex";

export const table = "rollups";

/** The lengths of leaves are stored as ISO 8601 durations. They were places in a list of the program. */
export async function up(database: Knex): Promise<void> {
  await database.raw(`
    ALTER TABLE rollups
      MODIFY leaf varchar(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      MODIFY total_leaf varchar(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw(
    "ALTER TABLE rollups MODIFY leaf tinyint unsigned NOT NULL, MODIFY total_leaf tinyint unsigned NOT NULL",
  );
}
