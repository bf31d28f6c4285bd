import type { Knex } from "knex";

export const table = "instances";

/** The instances of servers, clustered by provider as servers are. */
export async function up(database: Knex): Promise<void> {
  await database.raw(`
    CREATE TABLE IF NOT EXISTS instances (
      id bigint unsigned NOT NULL AUTO_INCREMENT,
      provider_id bigint unsigned NOT NULL,
      server_id bigint unsigned NOT NULL,
      public_id varchar(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      name varchar(255) NOT NULL,
      created_at datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
      deleted_at datetime(3) NULL DEFAULT NULL,
      PRIMARY KEY (provider_id, id),
      KEY instances_by_id (id)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw("DROP TABLE IF EXISTS instances");
}
