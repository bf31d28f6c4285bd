import type { Knex } from "knex";

export const table = "heartbeat";

/**
 * One row (id 1): when `npm run rollup` wrote last, by the clock of the database that it writes to.
 * A node whose copy of the row is old is behind.
 */
export async function up(database: Knex): Promise<void> {
  await database.raw(`
    CREATE TABLE IF NOT EXISTS heartbeat (
      id int unsigned NOT NULL,
      written_at datetime(3) NOT NULL,
      PRIMARY KEY (id)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw("DROP TABLE IF EXISTS heartbeat");
}
