import type { Knex } from "knex";

export const table = "servers";

/** The servers that are rented out, clustered by provider: overviews and breakdowns read all of one. */
export async function up(database: Knex): Promise<void> {
  await database.raw(`
    CREATE TABLE IF NOT EXISTS servers (
      id bigint unsigned NOT NULL AUTO_INCREMENT,
      provider_id bigint unsigned NOT NULL,
      uuid char(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      name varchar(255) NOT NULL,
      type varchar(255) NOT NULL DEFAULT '',
      status varchar(32) NOT NULL,
      price_per_hour decimal(12,4) NOT NULL,
      created_at datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
      deleted_at datetime(3) NULL DEFAULT NULL,
      PRIMARY KEY (provider_id, id),
      KEY servers_by_id (id),
      UNIQUE KEY servers_by_uuid (uuid)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw("DROP TABLE IF EXISTS servers");
}
