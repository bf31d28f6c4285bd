import type { Knex } from "knex";

export const table = "rollup_sums";

/**
 * A sum of the rollup: what the charges below zero add up to. It has a default, for the version before, which
 * writes rows without it. Of a migration that was killed the column may be there already.
 */
export async function up(database: Knex): Promise<void> {
  if (await database.schema.hasColumn("rollup_sums", "refunds")) return;
  await database.raw("ALTER TABLE rollup_sums ADD COLUMN refunds decimal(20,2) NOT NULL DEFAULT 0");
}

export async function down(database: Knex): Promise<void> {
  await database.raw("ALTER TABLE rollup_sums DROP COLUMN refunds");
}
