import type { Knex } from "knex";

/** The key that finds the rentals written after a watermark also holds what is counted of them. */
export async function up(database: Knex): Promise<void> {
  await database.raw(`
    ALTER TABLE rentals
      DROP KEY rentals_by_update,
      ADD KEY rentals_by_update
        (provider_id, updated_at, ended_at, started_at, server_id, instance_id)
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw(`
    ALTER TABLE rentals
      DROP KEY rentals_by_update,
      ADD KEY rentals_by_update (provider_id, updated_at)
  `);
}
