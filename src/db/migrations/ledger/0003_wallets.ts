import type { Knex } from "knex";

export const table = "wallets";

/** The available balance of each provider. A provider has at most one wallet. */
export async function up(database: Knex): Promise<void> {
  await database.raw(`
    CREATE TABLE IF NOT EXISTS wallets (
      provider_id bigint unsigned NOT NULL,
      available_balance decimal(14,2) NOT NULL DEFAULT 0.00,
      PRIMARY KEY (provider_id)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw("DROP TABLE IF EXISTS wallets");
}
