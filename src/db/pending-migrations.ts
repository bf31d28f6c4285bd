/** The migrations that are pending, for the service, which runs none. */
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Knex } from "knex";

/** The folder of the migrations. */
export const MIGRATIONS = fileURLToPath(new URL("./migrations", import.meta.url));

/** The names of all migrations, in order: their file names with the extension. */
export function migrationNames(): readonly string[] {
  return readdirSync(MIGRATIONS)
    .filter((file) => file.endsWith(".ts"))
    .sort();
}

/** @throws Error with the first missing migration and what to do, if the schema is behind */
export async function checkSchema(database: Knex): Promise<void> {
  const [next, ...others] = await pendingMigrations(database);
  if (next === undefined) return;
  const behind = others.length === 0 ? "1 migration" : `${others.length + 1} migrations`;
  throw new Error(
    `the database schema is ${behind} behind (next: ${next}): run \`npm run migrate\``,
  );
}

/**
 * The pending migrations, in order; empty if the schema is up to date. Needs only SELECT on
 * `knex_migrations`. Rejects with the driver's error if the database is unavailable.
 */
export async function pendingMigrations(database: Knex): Promise<string[]> {
  const completed = await completedMigrations(database);
  return migrationNames().filter((name) => !completed.includes(name));
}

/** The migrations that have run; none without the table that lists them. */
export async function completedMigrations(database: Knex): Promise<readonly string[]> {
  return database("knex_migrations")
    .pluck("name")
    .catch((error) => {
      if (error.code === "ER_NO_SUCH_TABLE") return [];
      throw error;
    });
}
