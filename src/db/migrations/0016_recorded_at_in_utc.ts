import type { Knex } from "knex";

/** ER_DEFAULT_VAL_GENERATED_NAMED_FUNCTION_IS_NOT_ALLOWED */
const FUNCTION_NOT_ALLOWED = 3770;

/**
 * `recorded_at` is in UTC whatever the time zone of the writer's session. TiDB accepts no such
 * default and keeps the session's time.
 */
export async function up(database: Knex): Promise<void> {
  try {
    await database.raw(
      "ALTER TABLE charges ALTER COLUMN recorded_at SET DEFAULT (UTC_TIMESTAMP(3))",
    );
  } catch (error) {
    if ((error as { readonly errno?: number }).errno !== FUNCTION_NOT_ALLOWED) throw error;
  }
}

export async function down(database: Knex): Promise<void> {
  await database.raw(
    "ALTER TABLE charges MODIFY recorded_at datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3)",
  );
}
