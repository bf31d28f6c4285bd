import type { Knex } from "knex";

/**
 * The state of each provider's rollup: the generation that queries use, and its watermark (`cut`).
 * A rollup covers the rows that were recorded up to its watermark. `build_generation` and
 * `build_cut` are those of a build in progress.
 *
 * `revision` counts the writes to the totals of the current generation, so that a cache knows when
 * they changed under the same watermark. The ledger is compared with the rollup slice by slice: the
 * next slice begins at `check_from` (event time) and is due at `check_at` (the database's clock).
 *
 * The totals at checkpoints before `stable_before` have not changed since revision `stable_since`,
 * whose watermark was `stable_since_cut`, so that a cache need not read them again. That holds for
 * revision `stable_until`, and says nothing about another.
 */
export async function up(database: Knex): Promise<void> {
  await database.raw(`
    CREATE TABLE IF NOT EXISTS rollups (
      provider_id bigint unsigned NOT NULL,
      generation int unsigned NOT NULL DEFAULT 0,
      cut datetime(3) NOT NULL DEFAULT '1000-01-01 00:00:00.000',
      build_generation int unsigned NULL DEFAULT NULL,
      build_cut datetime(3) NULL DEFAULT NULL,
      revision int unsigned NOT NULL DEFAULT 0,
      check_from datetime(3) NOT NULL DEFAULT '0001-01-01 00:00:00.000',
      check_at datetime(3) NOT NULL DEFAULT '1000-01-01 00:00:00.000',
      stable_before datetime(3) NULL DEFAULT NULL,
      stable_since int unsigned NULL DEFAULT NULL,
      stable_since_cut datetime(3) NULL DEFAULT NULL,
      stable_until int unsigned NULL DEFAULT NULL,
      PRIMARY KEY (provider_id),
      KEY rollups_by_check (check_at)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw("DROP TABLE IF EXISTS rollups");
}
