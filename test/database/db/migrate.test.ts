import type { Knex } from "knex";
import { expect, it } from "vitest";
import { BRIEF_LOCKS } from "../../../src/db/brief-locks.ts";
import {
  AnotherRun,
  migrateToLatest,
  migrations,
  unlockMigrations,
} from "../../../src/db/migrate.ts";
import { up as createCharges } from "../../../src/db/migrations/ledger/0007_charges.ts";
import {
  up as addPublicId,
  down as dropPublicId,
} from "../../../src/db/migrations/ledger/0017_charge_public_id.ts";
import { migrationNames, pendingMigrations } from "../../../src/db/pending-migrations.ts";
import { connectTo, testPool } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
import { watchProcesses } from "../../support/process-list.ts";
import { databaseOfFile } from "../file-database.ts";

const FILES = [...migrationNames()];
const LAST = FILES.slice(-1);

/** Each test leaves it with the schema that it had. */
const database = await databaseOfFile();
const { knex } = database;

/** The definition of every table, as the server reports it. */
async function schemaOf(): Promise<string[]> {
  const [tables] = await knex.raw("SHOW TABLES");
  const names: string[] = tables.flatMap((row: Record<string, string>) => Object.values(row));
  const definitions: string[] = [];
  for (const name of names.filter((name) => !name.includes("migration")).sort()) {
    const [[row]] = await knex.raw("SHOW CREATE TABLE ??", [name]);
    definitions.push(row["Create Table"].replace(/ AUTO_INCREMENT=\d+/, ""));
  }
  return definitions;
}

const recorded = () => knex("knex_migrations").orderBy("id").pluck("name");
const locks = () => knex("knex_migrations_lock").pluck("is_locked");
const forgetLast = () => knex("knex_migrations").whereIn("name", LAST).del();

it("an up-to-date database does nothing, needs no lock, and keeps its rows", async () => {
  await knex("providers").insert({ id: 7, name: "first" });
  await unlockMigrations(knex); // it is free
  await knex("knex_migrations_lock").update({ is_locked: 1 });
  const before = await schemaOf();
  expect(await migrateToLatest(knex)).toEqual([]);
  expect(await schemaOf()).toEqual(before);
  expect(await knex("providers").pluck("name")).toEqual(["first"]);
  await unlockMigrations(knex);
});

it("down, and up again by several runs at once, one runs every migration in order, and the others none", async () => {
  const before = await schemaOf();
  await knex.migrate.rollback(migrations, true);
  expect(await schemaOf()).toEqual([]);
  expect(await pendingMigrations(knex)).toEqual(FILES);
  await knex.raw("DROP TABLE knex_migrations, knex_migrations_lock, migration_tables");
  // Their pools stand for several processes.
  const pools = Array.from({ length: 4 }, () => testPool(database.url));
  const lines: string[] = [];
  const runs = pools.map((pool) => migrateToLatest(pool, (line) => lines.push(line)));
  const results = await Promise.allSettled(runs);
  await Promise.all(pools.map((pool) => pool.destroy()));
  const ran = results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
  expect(ran).toEqual(FILES);
  for (const result of results) {
    if (result.status === "rejected") expect(result.reason).toBeInstanceOf(AnotherRun);
  }
  expect(lines).toEqual(FILES.map((file) => `ran ${file}`));
  expect(await recorded()).toEqual(FILES);
  expect(await pendingMigrations(knex)).toEqual([]);
  expect(await schemaOf()).toEqual(before);
  expect(await locks()).toEqual([0]);
});

it("a migration that fails ends the run with its error, and frees the lock", async () => {
  await forgetLast();
  await knex.raw("RENAME TABLE page_token_keys TO away");
  await expect(migrateToLatest(knex)).rejects.toThrow(/page_token_keys' doesn't exist/);
  expect(await recorded()).toEqual(FILES.slice(0, -1));
  expect(await locks()).toEqual([0]);
  await knex.raw("RENAME TABLE away TO page_token_keys");
  expect(await migrateToLatest(knex)).toEqual(LAST);
});

it("a database of an older version, or of another program, is refused with what to do", async () => {
  await forgetLast();
  await knex("knex_migrations").insert({ name: "0009_a.ts", batch: 1 });
  await expect(migrateToLatest(knex)).rejects.toThrow(
    /another program, or of an older version, .* a database of its own.* \(knex_migrations has 0009_a.ts\)$/,
  );
  expect(await locks()).toEqual([0]);
  await knex("knex_migrations").where({ name: "0009_a.ts" }).del();
  await migrateToLatest(knex);
});

it("charges is created on a server that refuses its default in UTC, as TiDB does", async () => {
  const create = async (raw: (sql: string) => unknown) => {
    await knex.raw("DROP TABLE charges");
    await createCharges({ raw } as unknown as Knex);
    await addPublicId(knex);
    const [[row]] = await knex.raw("SHOW CREATE TABLE charges");
    return row["Create Table"];
  };
  const refusing = (sql: string) =>
    knex.raw(sql.replace("(UTC_TIMESTAMP(3))", "(UTC_TIMESTAMP 3)"));
  expect(await create(refusing)).toMatch(/`recorded_at` .* DEFAULT current_timestamp\(3\)/i);
  expect(await create((sql) => knex.raw(sql))).toMatch(/`recorded_at` .*utc_timestamp\(3\)/i);
});

it("the public id of charges is added at once, whatever the size of the ledger", async () => {
  /** Fails if the server would do more than change the description of the table. */
  const raw = (sql: string) => knex.raw(`${sql}, ALGORITHM=INSTANT`);
  await dropPublicId(knex);
  await addPublicId({ schema: knex.schema, raw } as unknown as Knex);
  const copying = raw("ALTER TABLE charges MODIFY gross decimal(16,2) NOT NULL");
  await expect(copying).rejects.toThrow(/ALGORITHM=INSTANT is not supported/);
});

it("beside an open transaction that has read the table a run lets writers go on, and tells who has it open", async () => {
  const pending = FILES.filter((name) => name >= "0017");
  await knex("knex_migrations").whereIn("name", pending).del();
  await dropPublicId(knex);
  const report = await connectTo(database.url);
  await report.query("BEGIN");
  await report.query("SELECT COUNT(*) FROM charges");
  const { threadId: id } = report;
  const pool = testPool(database.url, BRIEF_LOCKS);
  const itself = new RegExp(
    `^  open for \\d+ s: session ${id} of .* on ${database.name}; KILL ${id} ends it$`,
  );
  const lines: string[] = [];
  const run = migrateToLatest(pool, (line) => lines.push(line));
  // The server's list may be a little older, so the transaction need not be among the first lines.
  await until(() => lines.some((line) => itself.test(line)));
  // Its own lock is free, so whoever ends it now leaves none behind.
  expect(await locks()).toEqual([0]);
  await knex("charges").insert({
    provider_id: 1,
    server_id: 1,
    charged_at: "2026-11-01",
    gross: 1,
  });
  await report.query("COMMIT");
  expect(await run).toEqual(pending);
  expect(lines[0]).toMatch(/^waiting: other sessions use the table/);
  await knex("charges").del();
  await report.end();
  await pool.destroy();
});

it("a run that gets the lock after another has run its migrations runs none of them again", async () => {
  await forgetLast();
  const processes = await watchProcesses(database.name);
  const other = await connectTo(database.url);
  await other.query("BEGIN");
  await other.query("SELECT * FROM knex_migrations_lock FOR UPDATE");

  const run = migrateToLatest(knex).catch((error) => error);
  await expect.poll(() => processes.running("update `knex_migrations_lock`")).toHaveLength(1);
  await other.query("INSERT INTO knex_migrations (name, batch) VALUES (?, 1)", LAST);
  await other.query("COMMIT");
  expect(await run).toBeInstanceOf(AnotherRun);
  expect(await recorded()).toEqual(FILES);
  expect(await locks()).toEqual([0]);
  await other.end();
  await processes.close();
});
