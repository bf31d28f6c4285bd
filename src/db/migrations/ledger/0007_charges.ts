import type { Knex } from "knex";

export const table = "charges";

/**
 * How TiDB refuses UTC_TIMESTAMP as a default: ER_PARSE_ERROR, or
 * ER_DEFAULT_VAL_GENERATED_NAMED_FUNCTION_IS_NOT_ALLOWED.
 */
const REFUSED = [1064, 3770];

/**
 * The ledger of charges. The clustered key makes a provider's period one range. The key on
 * `recorded_at` finds the charges that a rollup does not cover, and holds what is summed of them, so
 * that reading them touches no row of the table.
 *
 * `recorded_at` is in UTC whatever the time zone of the writer's session; on TiDB it is in that zone.
 */
export async function up(database: Knex): Promise<void> {
  const create = (recordedAt: string) =>
    database.raw(`
      CREATE TABLE IF NOT EXISTS charges (
        id bigint unsigned NOT NULL AUTO_INCREMENT,
        provider_id bigint unsigned NOT NULL,
        server_id bigint unsigned NOT NULL,
        instance_id bigint unsigned NULL DEFAULT NULL,
        rental_id bigint unsigned NULL DEFAULT NULL,
        charged_at datetime(3) NOT NULL,
        gross decimal(14,2) NOT NULL,
        recorded_at datetime(3) NOT NULL DEFAULT ${recordedAt},
        PRIMARY KEY (provider_id, charged_at, id),
        KEY charges_by_id (id),
        KEY charges_by_recording
          (provider_id, recorded_at, charged_at, server_id, instance_id, gross)
      ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
    `);
  try {
    await create("(UTC_TIMESTAMP(3))");
  } catch (error) {
    if (!REFUSED.includes((error as { readonly errno: number }).errno)) throw error;
    await create("CURRENT_TIMESTAMP(3)");
  }
}

export async function down(database: Knex): Promise<void> {
  await database.raw("DROP TABLE IF EXISTS charges");
}
