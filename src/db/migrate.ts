/**
 * Migrating the schema, and finding the migrations that are pending.
 *
 * Knex records the migrations that have run, and holds a lock that a killed run would leave behind.
 * So every run first locks a row in an open transaction, the guard: the server releases it when
 * the run dies. MySQL commits at each DDL statement, so a migration is one statement that may
 * run again.
 */
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Knex } from "knex";

const DIRECTORY = fileURLToPath(new URL("./migrations", import.meta.url));

/** Knex's configuration of the migrations. Their names are their file names with the extension. */
export const migrations: Knex.MigratorConfig = {
  directory: DIRECTORY,
  extension: "ts",
  loadExtensions: [".ts"],
  disableTransactions: true,
};

/** How long a run waits for another run to finish, in seconds. */
const LOCK_WAIT_TIMEOUT = 600;

/**
 * Runs the pending migrations in order, and resolves to their names. If another run is in progress,
 * waits for it to finish.
 *
 * @param report called with a line of text for each migration, and if it waits for another run
 */
export async function migrateToLatest(
  database: Knex,
  report: (line: string) => void = () => {},
): Promise<string[]> {
  await createBookkeepingTables(database);
  return database.transaction(async (transaction) => {
    await lockGuard(transaction, report);
    // Only the owner of the guard gets here, so a lock that still exists is of a killed run.
    await database.migrate.forceFreeMigrationsLock(migrations);
    const [, paths] = (await database.migrate.latest(migrations)) as [number, string[]];
    const names = paths.map((path) => path.replace(/^.*\//, ""));
    for (const name of names) report(`ran ${name}`);
    return names;
  });
}

/**
 * The pending migrations, in order; empty if the schema is up to date. Needs only SELECT on
 * `knex_migrations`. Rejects with the driver's error if the database is unavailable.
 */
export async function pendingMigrations(database: Knex): Promise<string[]> {
  const names = readdirSync(DIRECTORY)
    .filter((file) => file.endsWith(".ts"))
    .sort();
  const completed: string[] = await database("knex_migrations")
    .pluck("name")
    .catch((error) => {
      if (error.code === "ER_NO_SUCH_TABLE") return [];
      throw error;
    });
  return names.filter((name) => !completed.includes(name));
}

/** Creates Knex's two tables and the guard. Safe to run concurrently, unlike Knex's own way. */
async function createBookkeepingTables(database: Knex): Promise<void> {
  const options = "ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin";
  await database.raw(
    `CREATE TABLE IF NOT EXISTS knex_migrations (
       id int unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
       name varchar(255) NOT NULL, batch int NOT NULL, migration_time timestamp NULL
     ) ${options}`,
  );
  await database.raw(
    `CREATE TABLE IF NOT EXISTS knex_migrations_lock (
       \`index\` int unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY, is_locked int NOT NULL
     ) ${options}`,
  );
  await database.raw(
    `CREATE TABLE IF NOT EXISTS migration_guard (id int unsigned NOT NULL PRIMARY KEY) ${options}`,
  );
  // If the guard exists, even INSERT IGNORE would wait for the run that has locked it.
  const [guards] = await database.raw("SELECT id FROM migration_guard");
  if (guards.length === 0) await database.raw("INSERT IGNORE INTO migration_guard (id) VALUES (1)");
}

/** Locks the guard until the transaction ends. */
async function lockGuard(
  transaction: Knex.Transaction,
  report: (line: string) => void,
): Promise<void> {
  await transaction.raw(`SET SESSION innodb_lock_wait_timeout = ${LOCK_WAIT_TIMEOUT}`);
  const notice = setTimeout(() => report("another migration is running; waiting for it"), 500);
  try {
    await transaction.raw("SELECT id FROM migration_guard WHERE id = 1 FOR UPDATE");
  } finally {
    clearTimeout(notice);
  }
}
