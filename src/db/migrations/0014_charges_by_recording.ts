import type { Knex } from "knex";

/**
 * The key that finds the charges recorded after a watermark also holds what is summed of them, so
 * that reading them touches no row of the table.
 */
export async function up(database: Knex): Promise<void> {
  await database.raw(`
    ALTER TABLE charges
      DROP KEY charges_by_recording,
      ADD KEY charges_by_recording
        (provider_id, recorded_at, charged_at, server_id, instance_id, gross)
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw(`
    ALTER TABLE charges
      DROP KEY charges_by_recording,
      ADD KEY charges_by_recording (provider_id, recorded_at)
  `);
}
