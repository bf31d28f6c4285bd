/**
 * Migrating the schema.
 *
 * Knex records the migrations that have run, and holds a lock that a killed run would leave behind.
 * So every run first locks a row in an open transaction, the guard: the server releases it when
 * the run dies. Runs on other nodes of a cluster do not see that lock; a lease keeps them apart.
 * What they do to each other all the same (a node cancels the transactions that another node's
 * conflict with) is retried. MySQL commits at each DDL statement, so a migration is one statement
 * that may run again.
 */
import { randomUUID } from "node:crypto";
import type { Knex } from "knex";
import pRetry, { type Options } from "p-retry";
import {
  createLease,
  LEASE_TIMEOUT,
  LeaseLost,
  MAX_WAIT,
  releaseLease,
  renewLease,
  takeLease,
  WaitTimeout,
} from "./migration-lease.ts";
import { MIGRATIONS } from "./pending-migrations.ts";

/** Knex's configuration of the migrations. Their names are their file names with the extension. */
export const migrations: Knex.MigratorConfig = {
  directory: MIGRATIONS,
  extension: "ts",
  loadExtensions: [".ts"],
  disableTransactions: true,
};

/** ER_LOCK_WAIT_TIMEOUT */
const LOCK_WAIT_TIMEOUT = 1205;
/** How often a run renews its lease, as a part of the lease's timeout. */
const RENEWALS = 6;

/** Errors that a run on another node causes, and after which the schema has to be looked at again. */
const CAUSED_BY_ANOTHER_RUN: ReadonlyMap<number, string> = new Map([
  [1050, "the table exists"],
  [1060, "the column exists"],
  [1061, "the key exists"],
  [1062, "the migration is recorded"],
  [1091, "the column or key to drop does not exist"],
  [1180, "Galera: the commit was cancelled"],
  [LOCK_WAIT_TIMEOUT, "a lock was not released in time"],
  [1213, "Galera: the transaction lost against another node's"],
  [1317, "Galera: the statement was cancelled"],
  [3100, "Group Replication: the group did not accept the transaction"],
  [3101, "Group Replication: the transaction lost against another node's"],
]);

const RETRY: Options = {
  retries: 10,
  minTimeout: 50,
  maxTimeout: 2_000,
  randomize: true,
  shouldRetry: ({ error }) => isCausedByAnotherRun(error),
};

/** What a test of the parts that keep runs apart may change. */
interface Exclusion {
  /** The row that is locked: runs with different rows are as on different nodes. Default: 1. */
  readonly guard?: number;
  /** How long another run's lease lasts without a renewal, in ms. Default: `LEASE_TIMEOUT`. */
  readonly leaseTimeout?: number;
}

/**
 * Runs the pending migrations in order, and resolves to the names of those that this run has run.
 * If another run is in progress, also on another node of a cluster, waits for it to finish.
 *
 * @param report called with a line of text for each migration, and if it waits for another run
 */
export async function migrateToLatest(
  database: Knex,
  report: (line: string) => void = () => {},
  { guard = 1, leaseTimeout = LEASE_TIMEOUT }: Exclusion = {},
): Promise<string[]> {
  const owner = randomUUID();
  const ran = new Set<string>();
  await pRetry(async () => {
    await createBookkeepingTables(database, guard);
    await database.transaction(async (transaction) => {
      const notice = setTimeout(() => report("another migration is running; waiting for it"), 500);
      try {
        await lockGuard(transaction, guard);
        await takeLease(database, { owner, place: owner, timeout: leaseTimeout });
      } finally {
        clearTimeout(notice);
      }
      const renew = () => renewLease(database, owner).catch(() => {}); // noticed at the next step
      const renewal = setInterval(renew, Math.max(leaseTimeout / RENEWALS, 100));
      try {
        await makeNamesUnique(database);
        await runPending(database, owner, ran, report);
      } finally {
        clearInterval(renewal);
        await releaseLease(database, owner).catch(() => {}); // then it expires
      }
    });
  }, RETRY);
  return [...ran];
}

/** Creates Knex's two tables, the guard and the lease. Safe to run concurrently, unlike Knex's way. */
async function createBookkeepingTables(database: Knex, guard: number): Promise<void> {
  const options = "ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin";
  await database.raw(
    `CREATE TABLE IF NOT EXISTS knex_migrations (
       id int unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
       name varchar(255) NOT NULL, batch int NOT NULL, migration_time timestamp NULL,
       UNIQUE KEY knex_migrations_by_name (name)
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
  const [guards] = await database.raw("SELECT id FROM migration_guard WHERE id = ?", [guard]);
  if (guards.length === 0) {
    await database.raw("INSERT IGNORE INTO migration_guard (id) VALUES (?)", [guard]);
  }
  await createLease(database, options);
}

/** Locks the guard until the transaction ends. */
async function lockGuard(transaction: Knex.Transaction, guard: number): Promise<void> {
  await transaction.raw(`SET SESSION innodb_lock_wait_timeout = ${MAX_WAIT / 1000}`);
  try {
    await transaction.raw("SELECT id FROM migration_guard WHERE id = ? FOR UPDATE", [guard]);
  } catch (error) {
    throw (error as { errno?: unknown }).errno === LOCK_WAIT_TIMEOUT ? new WaitTimeout() : error;
  }
}

/** Installs of earlier versions have no unique key, and may have a name twice. */
async function makeNamesUnique(database: Knex): Promise<void> {
  const [keys] = await database.raw(
    `SELECT INDEX_NAME FROM information_schema.STATISTICS
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'knex_migrations'
       AND COLUMN_NAME = 'name' AND NON_UNIQUE = 0`,
  );
  if (keys.length > 0) return;
  await database.raw(
    `DELETE again FROM knex_migrations again
     JOIN knex_migrations first ON first.name = again.name AND first.id < again.id`,
  );
  await database.raw("ALTER TABLE knex_migrations ADD UNIQUE KEY knex_migrations_by_name (name)");
}

/** Runs the pending migrations while the run owns the lease, and adds their names to `ran`. */
async function runPending(
  database: Knex,
  owner: string,
  ran: Set<string>,
  report: (line: string) => void,
): Promise<void> {
  // Only the owner of the lease gets here, so a lock that still exists is of a killed run.
  await database.migrate.forceFreeMigrationsLock(migrations);
  await database.migrate.latest({
    ...migrations,
    beforeEach: () => renewLease(database, owner),
    afterEach: async (_, done) => {
      for (const { file } of done as { readonly file: string }[]) {
        if (!ran.has(file)) report(`ran ${file}`);
        ran.add(file);
      }
    },
  });
}

function isCausedByAnotherRun(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof LeaseLost || error.name === "MigrationLocked") return true;
  return "errno" in error && CAUSED_BY_ANOTHER_RUN.has(Number(error.errno));
}
