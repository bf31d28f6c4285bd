import type { Knex } from "knex";

/**
 * The state of each provider's rollup: the generation that queries use, and its watermark (`cut`).
 * A rollup covers the rows that were recorded up to its watermark. `build_generation` and
 * `build_cut` are those of a build in progress.
 */
export async function up(database: Knex): Promise<void> {
  await database.raw(`
    CREATE TABLE IF NOT EXISTS rollups (
      provider_id bigint unsigned NOT NULL,
      generation int unsigned NOT NULL DEFAULT 0,
      cut datetime(3) NOT NULL DEFAULT '1000-01-01 00:00:00.000',
      build_generation int unsigned NULL DEFAULT NULL,
      build_cut datetime(3) NULL DEFAULT NULL,
      PRIMARY KEY (provider_id)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw("DROP TABLE IF EXISTS rollups");
}
