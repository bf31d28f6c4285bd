/**
 * Tables of the ledger that a platform has made itself, and views. `npm run migrate` adopts them: it looks whether
 * they are as the contract has them, and from then on neither makes, nor alters, nor drops them.
 *
 * The table `migration_tables` has a row for each table, written before any is made: whether it is adopted. So a run
 * that was killed knows its own tables again. A table without a row whose migration has run is the program's own.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Knex } from "knex";
import { checkLedger } from "./contract/columns.ts";
import { LEDGER } from "./contract/ledger.ts";
import { MIGRATIONS } from "./pending-migrations.ts";

/** The table of this module. */
export const MIGRATION_TABLES = "migration_tables";

/** A migration: the functions of its file. Both use `raw`, and `schema` to read. */
interface Migration {
  up(database: Knex): Promise<void>;
  down(database: Knex): Promise<void>;
}

/** What each statement of a migration begins with. */
const STATEMENT =
  /^\s*(CREATE TABLE IF NOT EXISTS|ALTER TABLE|DROP TABLE IF EXISTS|INSERT IGNORE INTO|DELETE FROM) (\w+)/;

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

/** A migration that leaves adopted tables as they are. */
export async function loadMigration(name: string): Promise<Migration> {
  const { up, down } = await import(pathToFileURL(join(MIGRATIONS, name)).href);
  return {
    up: async (database) => up(sparing(database, await adoptedTables(database))),
    async down(database) {
      await down(sparing(database, await adoptedTables(database)));
      const made = await madeBy(name);
      if (await database.schema.hasTable(MIGRATION_TABLES)) {
        await database(MIGRATION_TABLES).whereIn("name", made).del();
      }
    },
  };
}

/** What a migration uses of a database, but that no statement of it reaches an adopted table. */
function sparing(database: Knex, adopted: ReadonlySet<string>): Knex {
  return onlyRaw(database, async (sql) => {
    if (!adopted.has(tableOf(sql))) await database.raw(sql);
  });
}

/** The two functions of Knex that migrations use. */
function onlyRaw(database: Pick<Knex, "schema">, raw: (sql: string) => Promise<void>): Knex {
  return { raw, schema: database.schema } as unknown as Knex;
}

function tableOf(sql: string): string {
  const [, , table] = STATEMENT.exec(sql) ?? [];
  if (table === undefined) throw new Error(`not a statement of a migration: ${sql}`);
  return table;
}

/** The tables that a migration makes. */
async function madeBy(name: string): Promise<readonly string[]> {
  const { up }: Migration = await import(pathToFileURL(join(MIGRATIONS, name)).href);
  const made: string[] = [];
  const schema = { hasColumn: async () => false } as unknown as Knex["schema"];
  await up(
    onlyRaw({ schema }, async (sql) => {
      if (/^\s*CREATE/.test(sql)) made.push(tableOf(sql));
    }),
  );
  return made;
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

/** What becomes of tables in a run of the migrations. */
export interface Decision {
  /** Those that are there, and were not before known. */
  readonly adopts: readonly string[];
  /** Those that the run makes. */
  readonly makes: readonly string[];
}

/**
 * Decides which tables a run makes, and which it adopts. Sends no statement that writes.
 *
 * @param pending the names of the migrations of the run
 * @throws ForeignTables if a table that is there, or was adopted before, is not as the contract has it
 */
export async function decide(database: Knex, pending: readonly string[]): Promise<Decision> {
  const made = (await Promise.all(pending.map(madeBy))).flat();
  // In this order: another run writes the row of a table before it makes it.
  const [found] = await database.raw(
    "SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()",
  );
  const isThere = new Set(found.map(({ name }: { name: string }) => name));
  const known = await readRows(database);
  const decided = made.filter((name) => !known.has(name));
  const adopts = decided.filter((name) => isThere.has(name));
  const strangers = adopts.filter((name) => !(name in LEDGER));
  const adopted = [...known].filter(([, isAdopted]) => isAdopted).map(([name]) => name);
  const ours = adopts.filter((name) => name in LEDGER);
  const findings = await checkLedger(database, [...adopted, ...ours]);
  const reasons = [
    ...strangers.map(
      (name) =>
        `${name} is there already, and \`npm run migrate\` did not make it: rename it, or give this service a database of its own`,
    ),
    ...findings.filter(({ fails }) => fails).map(({ text }) => text),
  ];
  if (reasons.length > 0) throw new ForeignTables(reasons);
  return { adopts, makes: decided.filter((name) => !isThere.has(name)) };
}

/** Records a decision, before the run makes a table. */
export async function recordDecision(database: Knex, { adopts, makes }: Decision): Promise<void> {
  const rows = [
    ...adopts.map((name) => ({ name, adopted: 1 })),
    ...makes.map((name) => ({ name, adopted: 0 })),
  ];
  if (rows.length > 0) await database(MIGRATION_TABLES).insert(rows);
}
