import type { Knex } from "knex";

export const table = "page_token_keys";

/** The key by which page tokens are encrypted. One row, with the provider 0: the table is sharded as the others are. */
export async function up(database: Knex): Promise<void> {
  await database.raw(`
    CREATE TABLE IF NOT EXISTS page_token_keys (
      provider_id bigint unsigned NOT NULL,
      secret binary(32) NOT NULL,
      PRIMARY KEY (provider_id)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw("DROP TABLE IF EXISTS page_token_keys");
}
