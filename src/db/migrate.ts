/**
 * Bringing the schema up to date, and telling whether it is.
 *
 * Knex keeps the list of migrations that ran, and a lock that a killed run would
 * leave behind for ever. So runs stand in line at a guard first: a row that is locked
 * in an open transaction, which the server lets go of when its owner dies. Every
 * migration is one DDL statement that may run again, because MySQL commits at each.
 */
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Knex } from "knex";

const DIRECTORY = fileURLToPath(new URL("./migrations", import.meta.url));

/** Knex's config for the migrations; their names are their file names, with the extension. */
export const migrations: Knex.MigratorConfig = {
  directory: DIRECTORY,
  extension: "ts",
  loadExtensions: [".ts"],
  disableTransactions: true,
};

/** How long a run waits for another one to finish, in seconds. */
const PATIENCE = 600;

/**
 * Runs the migrations that have not run yet, in order, and resolves to their names.
 * Safe to run again, and twice at once: the second waits for the first.
 *
 * @param say is told when another run is waited for, and of each migration that ran
 */
export async function migrateToLatest(
  database: Knex,
  say: (line: string) => void = () => {},
): Promise<string[]> {
  await prepareBookkeeping(database);
  return database.transaction(async (guard) => {
    await waitInLine(guard, say);
    // Whoever holds the guard is alone: a lock that is still there was left by a killed run.
    await database.migrate.forceFreeMigrationsLock(migrations);
    const [, names] = (await database.migrate.latest(migrations)) as [number, string[]];
    const ran = names.map((name) => name.replace(/^.*\//, ""));
    for (const name of ran) say(`ran ${name}`);
    return ran;
  });
}

/**
 * The migrations that the database lacks, in order; empty when the schema is up to date.
 * Needs no more than SELECT on `knex_migrations`.
 */
export async function pendingMigrations(database: Knex): Promise<string[]> {
  const known = readdirSync(DIRECTORY)
    .filter((file) => file.endsWith(".ts"))
    .sort();
  const completed: string[] = await database("knex_migrations")
    .pluck("name")
    .catch((error) => {
      if (error.code === "ER_NO_SUCH_TABLE") return [];
      throw error;
    });
  return known.filter((name) => !completed.includes(name));
}

/** Makes Knex's two tables and the guard, in a way that may happen twice at once. */
async function prepareBookkeeping(database: Knex): Promise<void> {
  const table = "ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin";
  await database.raw(
    `CREATE TABLE IF NOT EXISTS knex_migrations (
       id int unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
       name varchar(255) NOT NULL, batch int NOT NULL, migration_time timestamp NULL
     ) ${table}`,
  );
  await database.raw(
    `CREATE TABLE IF NOT EXISTS knex_migrations_lock (
       \`index\` int unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY, is_locked int NOT NULL
     ) ${table}`,
  );
  await database.raw(
    `CREATE TABLE IF NOT EXISTS migration_guard (id int unsigned NOT NULL PRIMARY KEY) ${table}`,
  );
  // Not where the guard is there: even INSERT IGNORE would wait for whoever holds it.
  const [guards] = await database.raw("SELECT id FROM migration_guard");
  if (guards.length === 0) await database.raw("INSERT IGNORE INTO migration_guard (id) VALUES (1)");
}

async function waitInLine(guard: Knex.Transaction, say: (line: string) => void): Promise<void> {
  await guard.raw(`SET SESSION innodb_lock_wait_timeout = ${PATIENCE}`);
  const notice = setTimeout(() => say("another migration is running; waiting for it"), 500);
  try {
    await guard.raw("SELECT id FROM migration_guard WHERE id = 1 FOR UPDATE");
  } finally {
    clearTimeout(notice);
  }
}
