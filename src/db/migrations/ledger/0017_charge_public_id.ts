import type { Knex } from "knex";

export const table = "charges";

/**
 * The public id of a charge, where the platform gives one. Added last, it is a change of the table's description
 * alone, which both engines make at once on a ledger of any size (ALGORITHM=INSTANT, which they choose by themselves).
 * Of a migration that was killed it may be there already.
 */
export async function up(database: Knex): Promise<void> {
  if (await database.schema.hasColumn("charges", "public_id")) return;
  await database.raw(`
    ALTER TABLE charges
      ADD COLUMN public_id varchar(64) CHARACTER SET ascii COLLATE ascii_bin NULL DEFAULT NULL
  `);
}

export async function down(database: Knex): Promise<void> {
  await database.raw("ALTER TABLE charges DROP COLUMN public_id");
}
