import type { Knex } from "knex";

export const table = "rollup_sums";

/**
 * The sums of a rollup: of each owner the gross and the number of the charges, and the number of the
 * starts and the ends of rentals, that are covered and dated before a boundary (`at`). An owner is a
 * server and an instance (0: the server as a whole), or the provider as a whole (`total` 1, both 0).
 */
export async function up(database: Knex): Promise<void> {
  await database.raw(`
    CREATE TABLE IF NOT EXISTS rollup_sums (
      provider_id bigint unsigned NOT NULL,
      format smallint unsigned NOT NULL,
      slot tinyint unsigned NOT NULL,
      total tinyint unsigned NOT NULL,
      at datetime(3) NOT NULL,
      server_id bigint unsigned NOT NULL,
      instance_id bigint unsigned NOT NULL,
      gross decimal(20,2) NOT NULL,
      charges bigint NOT NULL,
      started bigint NOT NULL,
      ended bigint NOT NULL,
      PRIMARY KEY (provider_id, format, slot, total, at, server_id, instance_id)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw("DROP TABLE IF EXISTS rollup_sums");
}
