/**
 * Tables and views of the ledger that a platform has made: `npm run migrate` adopts those that are as they must be, and
 * refuses the others before its first statement. What is adopted it never alters and never drops.
 */
import { randomBytes } from "node:crypto";
import type { Knex } from "knex";
import { beforeEach, expect, inject, it, onTestFinished } from "vitest";
import { adoptedTables, ForeignTables } from "../../../src/db/adoption.ts";
import { migrateToLatest, migrations } from "../../../src/db/migrate.ts";
import { migrationNames } from "../../../src/db/pending-migrations.ts";
import { connectTo, testPool } from "../../support/database.ts";

/** A database before the first migration. */
let knex: Knex;
beforeEach(async () => {
  const name = `adoption_${randomBytes(6).toString("hex")}`;
  const server = await connectTo(inject("databaseServer"));
  await server.query(`CREATE DATABASE ${name}`);
  knex = testPool(Object.assign(new URL(inject("databaseServer")), { pathname: `/${name}` }).href);
  onTestFinished(async () => {
    await knex.destroy();
    await server.query(`DROP DATABASE ${name}`);
    await server.end();
  });
});

/** A table of a platform that is as the contract has it, but for its keys, its name and what else it has. */
const PAYOUTS = `CREATE TABLE payouts (
    id int unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY, provider_id int NOT NULL,
    public_id varchar(40) COLLATE utf8mb4_bin NOT NULL, paid_at datetime(3) NOT NULL,
    amount decimal(10,2) NOT NULL, method varchar(20) NOT NULL, status varchar(20) NOT NULL,
    theirs text, KEY theirs (provider_id, paid_at)
  ) DEFAULT CHARACTER SET utf8mb4`;
const WALLETS = `CREATE VIEW wallets AS
  SELECT provider_id, CAST(SUM(amount) AS DECIMAL(14,2)) AS available_balance FROM their_moves GROUP BY provider_id`;
const MOVES = "CREATE TABLE their_moves (provider_id int NOT NULL, amount decimal(10,2) NOT NULL)";

/** The definition of a table or view, as the server reports it. */
async function definitionOf(name: string): Promise<string> {
  const [[row]] = await knex.raw("SHOW CREATE TABLE ??", [name]);
  return row["Create Table"] ?? row["Create View"];
}

async function names(): Promise<string[]> {
  const [rows] = await knex.raw("SHOW TABLES");
  return rows.flatMap((row: object) => Object.values(row)).sort();
}

/** What is wrong, of a run that is refused. */
async function refusal(): Promise<readonly string[]> {
  const error = await migrateToLatest(knex).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ForeignTables);
  return (error as ForeignTables).reasons;
}

async function makeTheirs(): Promise<void> {
  const wallets = WALLETS.replace("CAST(SUM(amount)", "CAST(COALESCE(SUM(amount), 0)");
  for (const sql of [PAYOUTS, MOVES, wallets]) await knex.raw(sql);
  await knex.raw("INSERT INTO payouts VALUES (7, 1, 'po_1', '2026-01-01', 5, '', '', 'x')");
}
const theirs = () => Promise.all(["payouts", "wallets"].map(definitionOf));

it("a table and a view that are as they must be are adopted, stay as they are, and are left where all others are dropped", async () => {
  await makeTheirs();
  const before = await theirs();
  const lines: string[] = [];
  expect(await migrateToLatest(knex, (line) => lines.push(line))).toEqual(migrationNames());
  expect(lines.slice(0, 2)).toEqual([
    "adopted wallets: it stays as it is",
    "adopted payouts: it stays as it is",
  ]);
  // As if the run had been killed after the DDL of a table, and before it recorded that: it knows that as its own.
  await knex("knex_migrations").where("name", ">=", "0004_servers.ts").del();
  expect(await migrateToLatest(knex)).toEqual(migrationNames().slice(3));
  expect([...(await adoptedTables(knex))].sort()).toEqual(["payouts", "wallets"]);
  expect(await theirs()).toEqual(before);

  // A version whose contract has a column more is to the table as one that has lost a column.
  const last = migrationNames().slice(-1);
  await knex("knex_migrations").whereIn("name", last).del();
  await knex.raw("ALTER TABLE payouts DROP COLUMN method");
  const altered = await theirs();
  expect(await refusal()).toEqual([
    "payouts.method is missing, or this account may not read it: it must be varchar(64)",
  ]);
  expect(await theirs()).toEqual(altered);
  await knex.raw("ALTER TABLE payouts ADD COLUMN method varchar(64) NOT NULL");
  expect(await migrateToLatest(knex)).toEqual(last);

  await knex.migrate.rollback(migrations, true);
  const own = ["knex_migrations", "knex_migrations_lock", "migration_tables"];
  expect(await names()).toEqual([...own, "payouts", "their_moves", "wallets"]);
  expect(await knex("payouts").pluck("id")).toEqual([7]);
  expect(await knex("migration_tables")).toEqual([]);
});

it("any other is refused by name before the first statement", async () => {
  await knex.raw("CREATE TABLE servers (id int PRIMARY KEY, status int)");
  await knex.raw("CREATE TABLE rollups (id int PRIMARY KEY)");
  await makeTheirs();
  const before = await names();
  const reasons = await refusal();
  expect(reasons[0]).toMatch(/^rollups is there already, and `npm run migrate` did not make it: /);
  expect(new Set(reasons.slice(1).map((line) => line.split(".")[0]?.split(" ")[0]))).toEqual(
    new Set(["servers"]),
  );
  expect(await names()).toEqual(before);
});

it("tables that an older version made are the program's own, although nothing says so", async () => {
  await migrateToLatest(knex);
  const tables = ["api_keys", "charges", "heartbeat", "instances", "page_token_keys", "payouts"];
  tables.push("providers", "rentals", "rollup_increments", "rollup_sums", "rollups", "servers");
  const own = await knex("migration_tables").where({ adopted: 0 }).orderBy("name").pluck("name");
  expect(own).toEqual([...tables, "wallets"]);
  // Release 0.2.0 had 15 migrations, and did not record tables.
  const later = migrationNames().slice(15);
  for (const _ of later) await knex.migrate.down(migrations);
  await knex.raw("DROP TABLE migration_tables");
  const lines: string[] = [];
  expect(await migrateToLatest(knex, (line) => lines.push(line))).toEqual(later);
  expect(lines).toEqual(later.map((name) => `ran ${name}`));
  expect(await knex("migration_tables").orderBy("name").pluck("name")).toEqual([
    "page_token_keys",
    "rollup_increments",
  ]);
  expect(await knex.schema.hasColumn("charges", "public_id")).toBe(true);
});
