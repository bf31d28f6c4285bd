import type { Knex } from "knex";

/**
 * The ledger of charges. The clustered key makes a provider's period one range. The key on
 * `recorded_at` finds the charges that a rollup does not cover.
 */
export async function up(database: Knex): Promise<void> {
  await database.raw(`
    CREATE TABLE IF NOT EXISTS charges (
      id bigint unsigned NOT NULL AUTO_INCREMENT,
      provider_id bigint unsigned NOT NULL,
      server_id bigint unsigned NOT NULL,
      instance_id bigint unsigned NULL DEFAULT NULL,
      rental_id bigint unsigned NULL DEFAULT NULL,
      charged_at datetime(3) NOT NULL,
      gross decimal(14,2) NOT NULL,
      recorded_at datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
      PRIMARY KEY (provider_id, charged_at, id),
      KEY charges_by_id (id),
      KEY charges_by_recording (provider_id, recorded_at)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw("DROP TABLE IF EXISTS charges");
}
