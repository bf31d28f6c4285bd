import type { Knex } from "knex";

export const table = "rollups";

/**
 * The rollups of providers: the one that queries read, and one that is being built (`building`). Each
 * has the rows of its `slot` in `rollup_sums`. The key on `check_at` finds those to check.
 */
export async function up(database: Knex): Promise<void> {
  await database.raw(`
    CREATE TABLE IF NOT EXISTS rollups (
      provider_id bigint unsigned NOT NULL,
      format smallint unsigned NOT NULL,
      building tinyint unsigned NOT NULL,
      slot tinyint unsigned NOT NULL,
      version bigint unsigned NOT NULL,
      watermark datetime(3) NOT NULL,
      leaf tinyint unsigned NOT NULL,
      total_leaf tinyint unsigned NOT NULL,
      next_from datetime(3) NULL DEFAULT NULL,
      rows_left bigint unsigned NOT NULL DEFAULT 0,
      check_at datetime(3) NOT NULL,
      PRIMARY KEY (provider_id, format, building),
      KEY rollups_by_check (format, building, check_at)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw("DROP TABLE IF EXISTS rollups");
}
