import type { Knex } from "knex";

/**
 * The checkpoints of each rollup, and the gross of everything dated before each. Few charges lie
 * between two checkpoints. The last one, 9999-12-31 23:59:59.999, counts all charges.
 */
export async function up(database: Knex): Promise<void> {
  await database.raw(`
    CREATE TABLE IF NOT EXISTS rollup_checkpoints (
      provider_id bigint unsigned NOT NULL,
      generation int unsigned NOT NULL,
      at datetime(3) NOT NULL,
      gross decimal(20,2) NOT NULL,
      PRIMARY KEY (provider_id, generation, at)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw("DROP TABLE IF EXISTS rollup_checkpoints");
}
