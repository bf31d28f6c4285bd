import type { Knex } from "knex";

/** The gross of each provider per calendar month (202611), of the charges that its rollup covers. */
export async function up(database: Knex): Promise<void> {
  await database.raw(`
    CREATE TABLE IF NOT EXISTS rollup_months (
      provider_id bigint unsigned NOT NULL,
      generation int unsigned NOT NULL,
      month int unsigned NOT NULL,
      gross decimal(20,2) NOT NULL,
      PRIMARY KEY (provider_id, generation, month)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw("DROP TABLE IF EXISTS rollup_months");
}
