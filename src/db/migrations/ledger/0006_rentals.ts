import type { Knex } from "knex";

export const table = "rentals";

/**
 * The rentals of servers and instances. Queries find the rentals of a period by their end; rollups
 * find the changed ones by their last update. Both keys hold what is counted of a rental, so that
 * reading them touches no row of the table.
 */
export async function up(database: Knex): Promise<void> {
  await database.raw(`
    CREATE TABLE IF NOT EXISTS rentals (
      id bigint unsigned NOT NULL AUTO_INCREMENT,
      provider_id bigint unsigned NOT NULL,
      server_id bigint unsigned NOT NULL,
      instance_id bigint unsigned NULL DEFAULT NULL,
      started_at datetime(3) NOT NULL,
      ended_at datetime(3) NULL DEFAULT NULL,
      updated_at datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
      PRIMARY KEY (provider_id, started_at, id),
      KEY rentals_by_id (id),
      KEY rentals_by_end (provider_id, ended_at, started_at, updated_at, server_id, instance_id),
      KEY rentals_by_update
        (provider_id, updated_at, ended_at, started_at, server_id, instance_id)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw("DROP TABLE IF EXISTS rentals");
}
