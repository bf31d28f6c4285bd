import type { Knex } from "knex";

/**
 * What the provider as a whole has in a stretch of time: the gross, the refunds and the number of its covered charges,
 * for each quarter of an hour (`length` 15, in minutes) that has any, for each six hours (360), each day in UTC (1440) and
 * each month (43200). `at` is its start. Quarter hours are in order of the six hours of the day that they lie in (`part` 0 to 3, and
 * 0 for the other lengths), because days of a time zone need those of one.
 */
export async function up(database: Knex): Promise<void> {
  await database.raw(`
    CREATE TABLE IF NOT EXISTS rollup_increments (
      provider_id bigint unsigned NOT NULL,
      format smallint unsigned NOT NULL,
      slot tinyint unsigned NOT NULL,
      length smallint unsigned NOT NULL,
      part tinyint unsigned NOT NULL,
      at datetime(3) NOT NULL,
      gross decimal(20,2) NOT NULL,
      refunds decimal(20,2) NOT NULL,
      charges bigint NOT NULL,
      PRIMARY KEY (provider_id, format, slot, length, part, at)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw("DROP TABLE IF EXISTS rollup_increments");
}
