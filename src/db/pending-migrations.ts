/** The migrations: their files, and which are pending, for the service, which runs none. */
import { readdirSync } from "node:fs";
import type { Knex } from "knex";

/** Those of the ledger, which writers fill, and those of the tables that are this service's own. */
const FOLDERS = ["ledger", "service"] as const;

/** A migration's file. */
export interface MigrationFile {
  /** Its name with the extension, by which it is recorded, and which orders the migrations of both folders. */
  readonly name: string;
  readonly folder: (typeof FOLDERS)[number];
  readonly url: string;
}

/** The files of all migrations, in order. */
export function migrationFiles(): readonly MigrationFile[] {
  const files = FOLDERS.flatMap((folder) => {
    const url = new URL(`./migrations/${folder}/`, import.meta.url);
    return readdirSync(url)
      .filter((name) => name.endsWith(".ts"))
      .map((name) => ({ name, folder, url: new URL(name, url).href }));
  });
  return files.sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** The names of all migrations, in order. */
export function migrationNames(): readonly string[] {
  return migrationFiles().map(({ name }) => name);
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
