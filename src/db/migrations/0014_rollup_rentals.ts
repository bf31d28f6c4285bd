import type { Knex } from "knex";

/**
 * The rentals that each rollup holds, with the ends that it counts. A rental that is written again
 * without a change is found here, so it is not counted as a new one.
 */
export async function up(database: Knex): Promise<void> {
  await database.raw(`
    CREATE TABLE IF NOT EXISTS rollup_rentals (
      provider_id bigint unsigned NOT NULL,
      generation int unsigned NOT NULL,
      ended_at datetime(3) NOT NULL,
      rental_id bigint unsigned NOT NULL,
      PRIMARY KEY (provider_id, generation, ended_at, rental_id)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw("DROP TABLE IF EXISTS rollup_rentals");
}
