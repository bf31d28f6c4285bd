import type { Knex } from "knex";

export const table = "rollup_increments";

/**
 * What the provider as a whole has in a stretch of time: the gross, the refunds and the number of its covered charges,
 * for each hour (`length` 60, in minutes) that has any, each day in UTC (1440) and each month (43200). `at` is its start.
 * The columns with a number have the quarters of an hour, and the six hours of a day; NULL where there is no charge. Hours
 * are in order of the six hours of the day that they lie in (`part` 0 to 3, and 0 for the other lengths), because days of
 * a time zone need those of one.
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
      gross_1 decimal(20,2) NULL,
      refunds_1 decimal(20,2) NULL,
      charges_1 bigint NULL,
      gross_2 decimal(20,2) NULL,
      refunds_2 decimal(20,2) NULL,
      charges_2 bigint NULL,
      gross_3 decimal(20,2) NULL,
      refunds_3 decimal(20,2) NULL,
      charges_3 bigint NULL,
      gross_4 decimal(20,2) NULL,
      refunds_4 decimal(20,2) NULL,
      charges_4 bigint NULL,
      PRIMARY KEY (provider_id, format, slot, length, part, at)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw("DROP TABLE IF EXISTS rollup_increments");
}
