import type { Knex } from "knex";

/**
 * The totals of each server and instance (0: none) before a checkpoint: the gross and the number of
 * its charges, and the number of starts and of ends of its rentals that have ended.
 */
export async function up(database: Knex): Promise<void> {
  await database.raw(`
    CREATE TABLE IF NOT EXISTS rollup_figures (
      provider_id bigint unsigned NOT NULL,
      generation int unsigned NOT NULL,
      at datetime(3) NOT NULL,
      server_id bigint unsigned NOT NULL,
      instance_id bigint unsigned NOT NULL,
      gross decimal(20,2) NOT NULL,
      charges bigint NOT NULL,
      started bigint NOT NULL,
      ended bigint NOT NULL,
      PRIMARY KEY (provider_id, generation, at, server_id, instance_id)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw("DROP TABLE IF EXISTS rollup_figures");
}
