import type { Knex } from "knex";

export const table = "api_keys";

/** API keys. Stores the SHA-256 of a key, and its first characters (`hint`) to recognise it by. */
export async function up(database: Knex): Promise<void> {
  await database.raw(`
    CREATE TABLE IF NOT EXISTS api_keys (
      id bigint unsigned NOT NULL AUTO_INCREMENT,
      provider_id bigint unsigned NOT NULL,
      name varchar(255) NOT NULL DEFAULT '',
      key_hash binary(32) NOT NULL,
      hint varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
      created_at datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
      expires_at datetime(3) NULL DEFAULT NULL,
      revoked_at datetime(3) NULL DEFAULT NULL,
      PRIMARY KEY (id),
      UNIQUE KEY api_keys_by_hash (key_hash),
      KEY api_keys_by_provider (provider_id)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw("DROP TABLE IF EXISTS api_keys");
}
