/**
 * Migrating the schema, once per deployment. Knex records the migrations that have run, and holds a
 * lock meanwhile: of several runs at once one migrates, and the others fail. A run that is killed
 * leaves the lock behind, until an operator frees it. MySQL commits at each DDL statement, so a
 * migration is one statement that may run again. Tables that others have made are adopted (adoption.ts).
 */
import type { Knex } from "knex";
import { decide, loadMigration, MIGRATION_TABLES, recordDecision } from "./adoption.ts";
import { untilUnlocked } from "./brief-locks.ts";
import {
  checkSchema,
  completedMigrations,
  migrationNames,
  pendingMigrations,
} from "./pending-migrations.ts";
import { requireOneShard } from "./shards.ts";

/** Knex's configuration of the migrations. Their names are their file names with the extension. */
export const migrations: Knex.MigratorConfig = {
  migrationSource: {
    getMigrations: async () => [...migrationNames()],
    getMigrationName: (name: string) => name,
    getMigration: loadMigration,
  },
  disableTransactions: true,
};

/** Another run migrates the database, or was killed before it freed the lock. */
export class AnotherRun extends Error {
  override readonly name = "AnotherRun";

  /** @param reason what shows it */
  constructor(reason: string) {
    super(
      `another run of the migrations is in progress (${reason}): run \`npm run migrate\` again ` +
        "when it has ended. If it was killed, free its lock: `npm run migrate -- --unlock`",
    );
  }
}

/**
 * Runs the pending migrations in order, and resolves to the names of those that it has run. If none
 * is pending, it needs no lock.
 *
 * @param report called with a line of text for each table that is adopted, and for each migration
 * @throws AnotherRun if another run is in progress, or was killed
 * @throws ForeignTables before the first statement, if a table is not as it must be and is not the program's own
 * @throws Error with what to do, if the database has run migrations that this version lacks
 */
export async function migrateToLatest(
  database: Knex,
  report: (line: string) => void = () => {},
): Promise<string[]> {
  await requireOneShard(database);
  const pending = await pendingMigrations(database);
  if (pending.length === 0) return [];
  await refuseOthers(database);
  await decide(database, pending);
  await createBookkeepingTables(database);
  const names: string[] = [];
  const latest = () =>
    database.migrate.latest({
      ...migrations,
      // Knex has listed them before it took the lock.
      beforeAll: async (_, listed) => {
        const pending = await pendingMigrations(database);
        if (pending.length < listed.length) throw new AnotherRun("it has just run some");
        const decision = await decide(database, pending);
        await recordDecision(database, decision);
        for (const name of decision.adopts) report(`adopted ${name}: it stays as it is`);
      },
      afterEach: async (_, [name]) => {
        names.push(String(name));
        report(`ran ${name}`);
      },
    });
  try {
    await untilUnlocked(database, latest, report);
    await checkSchema(database);
    return names;
  } catch (error) {
    const { name, message } = error as Error;
    if (name === "MigrationLocked") throw new AnotherRun(message);
    throw error;
  }
}

/** @throws Error with what to do, if the database has migrations that are not of this version */
async function refuseOthers(database: Knex): Promise<void> {
  const completed = await completedMigrations(database);
  const known = new Set(migrationNames());
  const others = completed.filter((name) => !known.has(name));
  if (others.length === 0) return;
  throw new Error(
    "the database has migrations that this version lacks: those of another program, or of an older version, whose " +
      "layout cannot be changed into this one. Give this service a database of its own, run `npm run migrate` on it, " +
      'and copy the rows of the ledger (docs/deployment.md, "Backup and restore"); rollups are built from them ' +
      `(knex_migrations has ${others.join(", ")})`,
  );
}

/** Frees the lock of a run that was killed. Only for when no run is in progress. */
export async function unlockMigrations(database: Knex): Promise<void> {
  await database.migrate.forceFreeMigrationsLock(migrations);
}

/**
 * Creates Knex's two tables and the row of its lock, as all tables are. Knex would create them too,
 * but not safely: two first runs at once could make a second row, with which no run gets the lock. And the table of
 * the adopted ones. Names are ASCII, so that keys of them fit into each format of rows.
 */
async function createBookkeepingTables(database: Knex): Promise<void> {
  const options = "ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin";
  const ascii = "CHARACTER SET ascii COLLATE ascii_bin NOT NULL";
  await database.raw(
    `CREATE TABLE IF NOT EXISTS knex_migrations (
       id int unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
       name varchar(255) ${ascii}, batch int NOT NULL, migration_time timestamp NULL,
       UNIQUE KEY knex_migrations_by_name (name)
     ) ${options}`,
  );
  await database.raw(
    `CREATE TABLE IF NOT EXISTS knex_migrations_lock (
       \`index\` int unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY, is_locked int NOT NULL
     ) ${options}`,
  );
  await database.raw(
    `CREATE TABLE IF NOT EXISTS ${MIGRATION_TABLES} (
       name varchar(64) ${ascii} PRIMARY KEY, adopted tinyint unsigned NOT NULL
     ) ${options}`,
  );
  const [rows] = await database.raw("SELECT is_locked FROM knex_migrations_lock");
  if (rows.length > 0) return;
  await database.raw("INSERT IGNORE INTO knex_migrations_lock (`index`, is_locked) VALUES (1, 0)");
}
