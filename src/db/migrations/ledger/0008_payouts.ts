import type { Knex } from "knex";

export const table = "payouts";

/** The payouts to providers, clustered by time: queries read the latest. */
export async function up(database: Knex): Promise<void> {
  await database.raw(`
    CREATE TABLE IF NOT EXISTS payouts (
      id bigint unsigned NOT NULL AUTO_INCREMENT,
      provider_id bigint unsigned NOT NULL,
      public_id varchar(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      paid_at datetime(3) NOT NULL,
      amount decimal(14,2) NOT NULL,
      method varchar(64) NOT NULL,
      status varchar(32) NOT NULL,
      PRIMARY KEY (provider_id, paid_at, id),
      KEY payouts_by_id (id)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw("DROP TABLE IF EXISTS payouts");
}
