/**
 * Tables of the ledger that a platform has made itself, and views. `npm run migrate` adopts them: it looks whether
 * they are as the contract has them, and from then on runs no migration of them.
 *
 * The table `migration_tables` has a row for each table, written before any is made: whether it is adopted. So a run
 * that was killed knows its own tables again. A table without a row whose migration has run is the program's own.
 */
import type { Knex } from "knex";
import { checkLedger } from "./contract/columns.ts";
import { type MigrationFile, migrationFiles, pendingMigrations } from "./pending-migrations.ts";

/** The table of this module. */
export const MIGRATION_TABLES = "migration_tables";

/** What the file of a migration exports. */
interface Migration {
  /** The table that it makes, or changes. */
  readonly table: string;
  up(database: Knex): Promise<void>;
  down(database: Knex): Promise<void>;
}

/** Tables that `npm run migrate` has not made, and that are not as they must be. */
export class ForeignTables extends Error {
  override readonly name = "ForeignTables";
  /** A line for each thing that is wrong. */
  readonly reasons: readonly string[];

  constructor(reasons: readonly string[]) {
    super(reasons.join("\n"));
    this.reasons = reasons;
  }
}

/** A migration, with where its file is. */
interface LoadedMigration extends MigrationFile, Migration {
  /** Whether it is the first one of its table: it makes it. */
  readonly makes: boolean;
}

/** All migrations, in order. */
async function loadMigrations(): Promise<readonly LoadedMigration[]> {
  const made = new Set<string>();
  const loaded: LoadedMigration[] = [];
  for (const file of migrationFiles()) {
    const { table, up, down }: Migration = await import(file.url);
    loaded.push({ ...file, table, up, down, makes: !made.has(table) });
    made.add(table);
  }
  return loaded;
}

/** A migration that leaves its table as it is, if that is adopted. */
export async function loadMigration(name: string): Promise<Pick<Migration, "up" | "down">> {
  const migration = (await loadMigrations()).find((one) => one.name === name);
  if (migration === undefined) throw new Error(`there is no migration ${name}`);
  const { table, up, down, makes } = migration;
  return {
    async up(database) {
      if (!(await adoptedTables(database)).has(table)) await up(database);
    },
    async down(database) {
      if (!(await adoptedTables(database)).has(table)) await down(database);
      if (makes && (await database.schema.hasTable(MIGRATION_TABLES))) {
        await database(MIGRATION_TABLES).where({ name: table }).del();
      }
    },
  };
}

/** The tables that are adopted. */
export async function adoptedTables(database: Knex): Promise<ReadonlySet<string>> {
  const rows = await readRows(database);
  return new Set([...rows].filter(([, isAdopted]) => isAdopted).map(([name]) => name));
}

/** Whether each table is adopted, by its name. */
async function readRows(database: Knex): Promise<ReadonlyMap<string, boolean>> {
  const rows: { name: string; adopted: number | string }[] = await database(MIGRATION_TABLES)
    .select("name", "adopted")
    .catch((error) => {
      if (error.code === "ER_NO_SUCH_TABLE") return [];
      throw error;
    });
  return new Map(rows.map(({ name, adopted }) => [name, Number(adopted) === 1]));
}

/**
 * Looks at what is there before a run of some migrations, by their names: the tables that were adopted before; and of
 * those not known before the ones that are adopted, that the run makes, and that have the name of one of the service's.
 */
async function survey(database: Knex, pending: readonly string[]) {
  const making = (await loadMigrations()).filter(
    ({ name, makes }) => makes && pending.includes(name),
  );
  // In this order: another run writes the row of a table before it makes it.
  const [found] = await database.raw(
    "SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()",
  );
  const isThere = new Set(found.map(({ name }: { name: string }) => name));
  const known = await readRows(database);
  const decided = making.filter(({ table }) => !known.has(table));
  const { ledger, service, none } = Object.groupBy(decided, ({ table, folder }) =>
    isThere.has(table) ? folder : "none",
  );
  const tablesOf = (some: readonly LoadedMigration[] = []) => some.map(({ table }) => table);
  return {
    adopted: [...known].filter(([, isAdopted]) => isAdopted).map(([name]) => name),
    adopts: tablesOf(ledger),
    makes: tablesOf(none),
    strangers: tablesOf(service),
  };
}

/** The tables and views of the ledger that others have made: those that are adopted, or would be by the next run. */
export async function foreignTables(database: Knex): Promise<ReadonlySet<string>> {
  const { adopted, adopts } = await survey(database, await pendingMigrations(database));
  return new Set([...adopted, ...adopts]);
}

/**
 * Decides which tables a run makes, and which it adopts. Sends no statement that writes.
 *
 * @param pending the names of the migrations of the run
 * @throws ForeignTables if a table that is there, or was adopted before, is not as the contract has it
 */
export async function decide(database: Knex, pending: readonly string[]) {
  const { adopted, adopts, makes, strangers } = await survey(database, pending);
  const reasons = [
    ...strangers.map(
      (name) =>
        `${name} is there already, and \`npm run migrate\` did not make it: rename it, or give this service a database of its own`,
    ),
    ...(await checkLedger(database, [...adopted, ...adopts])),
  ];
  if (reasons.length > 0) throw new ForeignTables(reasons);
  return { adopts, makes };
}

/** Records a decision, before the run makes a table. */
export async function recordDecision(
  database: Knex,
  { adopts, makes }: Awaited<ReturnType<typeof decide>>,
): Promise<void> {
  const rowsOf = (names: readonly string[], adopted: 0 | 1) =>
    names.map((name) => ({ name, adopted }));
  const rows = [...rowsOf(adopts, 1), ...rowsOf(makes, 0)];
  if (rows.length > 0) await database(MIGRATION_TABLES).insert(rows);
}
