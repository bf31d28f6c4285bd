import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import type { Knex } from "knex";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import {
  AnotherRun,
  migrateToLatest,
  migrations,
  unlockMigrations,
} from "../../../src/db/migrate.ts";
import { up as createCharges } from "../../../src/db/migrations/0007_charges.ts";
import {
  up as addPublicId,
  down as dropPublicId,
} from "../../../src/db/migrations/0017_charge_public_id.ts";
import { pendingMigrations } from "../../../src/db/pending-migrations.ts";
import { connectTo, createDatabase, type TestDatabase, testPool } from "../../support/database.ts";
import { watchProcesses } from "../../support/process-list.ts";

const FILES = readdirSync(new URL("../../../src/db/migrations", import.meta.url)).sort();

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

/** Makes the database empty, as before its first migration. */
async function empty(): Promise<void> {
  const server = await connectTo(inject("databaseServer"));
  await server.query(`DROP DATABASE ${database.name}`);
  await server.query(`CREATE DATABASE ${database.name}`);
  await server.end();
}

/** The definition of every table, as the server reports it. */
async function schemaOf(knex: Knex): Promise<string[]> {
  const [tables] = await knex.raw("SHOW TABLES");
  const names: string[] = tables.flatMap((row: Record<string, string>) => Object.values(row));
  const definitions: string[] = [];
  for (const name of names.filter((name) => !name.includes("migration")).sort()) {
    const [[row]] = await knex.raw("SHOW CREATE TABLE ??", [name]);
    definitions.push(row["Create Table"].replace(/ AUTO_INCREMENT=\d+/, ""));
  }
  return definitions;
}

const recorded = () => database.knex("knex_migrations").orderBy("id").pluck("name");
const locks = () => database.knex("knex_migrations_lock").pluck("is_locked");

describe("migrating", () => {
  it("an up-to-date database does nothing, needs no lock, and keeps its rows", async () => {
    await database.knex("providers").insert({ id: 7, name: "first" });
    await unlockMigrations(database.knex); // it is free
    await database.knex("knex_migrations_lock").update({ is_locked: 1 });
    const before = await schemaOf(database.knex);
    expect(await migrateToLatest(database.knex)).toEqual([]);
    expect(await schemaOf(database.knex)).toEqual(before);
    expect(await database.knex("providers").select("id", "name")).toEqual([
      { id: "7", name: "first" },
    ]);
  });

  it("down, and up again, runs every migration in order, and reports each", async () => {
    const before = await schemaOf(database.knex);
    await database.knex.migrate.rollback(migrations, true);
    expect(await schemaOf(database.knex)).toEqual([]);
    expect(await pendingMigrations(database.knex)).toEqual(FILES);
    const reported: string[] = [];
    expect(await migrateToLatest(database.knex, (line) => reported.push(line))).toEqual(FILES);
    expect(reported).toEqual(FILES.map((file) => `ran ${file}`));
    expect(await pendingMigrations(database.knex)).toEqual([]);
    expect(await schemaOf(database.knex)).toEqual(before);
  });

  it("a migration that fails ends the run with its error, and frees the lock", async () => {
    await empty();
    const name = `migrate_${randomBytes(6).toString("hex")}`;
    await database.knex.raw(`CREATE USER ${name} IDENTIFIED BY '${name}'`);
    await database.knex.raw(`GRANT SELECT, INSERT, UPDATE ON ${database.name}.* TO ${name}`);
    for (const table of [
      "knex_migrations",
      "knex_migrations_lock",
      "migration_tables",
      "providers",
    ]) {
      await database.knex.raw(`GRANT CREATE ON ${database.name}.${table} TO ${name}`);
    }
    const url = Object.assign(new URL(database.url), { username: name, password: name });
    const account = testPool(url.href);
    await expect(migrateToLatest(account)).rejects.toThrow(/CREATE command denied .*api_keys/);
    await account.destroy();
    await database.knex.raw(`DROP USER ${name}`);
    expect(await recorded()).toEqual(FILES.slice(0, 1));
    expect(await locks()).toEqual([0]);
  });

  it.each([
    [
      "that this version lacks",
      "0009_a.ts",
      'the database has the layout of an older version, which cannot be changed into this one: create a new database, run `npm run migrate` on that, and copy the rows of the ledger (docs/deployment.md, "Backup and restore"); rollups are built from them (knex_migrations has 0009_a.ts)',
    ],
    [
      "of another program",
      "20240101_theirs.js",
      "the database has the migrations of another program, or of a version whose layout cannot be changed into this one: give this service a database of its own",
    ],
  ])("a database with migrations %s is refused, with what to do", async (_, name, text) => {
    const known = database.knex("knex_migrations");
    if (name.endsWith(".ts")) await known.where({ name: FILES.at(-1) }).update({ name });
    else {
      await known.del();
      await database.knex("knex_migrations").insert({ name, batch: 1 });
    }
    await expect(migrateToLatest(database.knex)).rejects.toThrow(text);
    expect(await locks()).toEqual([0]);
  });

  it("charges is created on a server that refuses its default in UTC, as TiDB does", async () => {
    await database.knex.raw("DROP TABLE charges");
    const refusing = {
      raw: (sql: string) =>
        database.knex.raw(sql.replace("(UTC_TIMESTAMP(3))", "(UTC_TIMESTAMP 3)")),
    } as unknown as Knex;
    await createCharges(refusing);
    const [[row]] = await database.knex.raw("SHOW CREATE TABLE charges");
    expect(row["Create Table"]).toMatch(/`recorded_at` .* DEFAULT current_timestamp\(3\)/i);
  });
});

it("the public id of charges is added at once, whatever the size of the ledger, also where it is there", async () => {
  const { knex } = database;
  await dropPublicId(knex);
  const row = { provider_id: 1, server_id: 1, charged_at: "2026-11-20", gross: "1.00" };
  await knex("charges").insert(Array.from({ length: 100 }, () => row));
  /** Fails if the server would do more than change the description of the table. */
  const instantly = (sql: string) => knex.raw(`${sql}, ALGORITHM=INSTANT`);
  const copying = "ALTER TABLE charges MODIFY gross decimal(16,2) NOT NULL";
  await expect(instantly(copying)).rejects.toThrow(/ALGORITHM=INSTANT is not supported/);
  let altered = 0;
  const instant = {
    schema: knex.schema,
    raw: (sql: string) => {
      altered++;
      return instantly(sql);
    },
  } as unknown as Knex;
  for (const _ of ["not there", "there"]) await addPublicId(instant);
  expect(altered).toBe(1);
  expect(await knex("charges").whereNull("public_id").count({ count: "*" })).toEqual([
    { count: "100" },
  ]);
});

it("of several runs at once on an empty database one runs each migration, and the others none", async () => {
  const expected = await schemaOf(database.knex);
  await empty();
  // Their pools stand for several processes.
  const pools = Array.from({ length: 4 }, () => testPool(database.url));
  const results = await Promise.allSettled(pools.map((pool) => migrateToLatest(pool)));
  await Promise.all(pools.map((pool) => pool.destroy()));
  const ran = results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
  expect(ran).toEqual(FILES);
  for (const result of results) {
    if (result.status === "rejected") expect(result.reason).toBeInstanceOf(AnotherRun);
  }
  expect(await recorded()).toEqual(FILES);
  expect(await schemaOf(database.knex)).toEqual(expected);
  expect(await locks()).toEqual([0]);
});

it("a run that gets the lock after another has run its migrations runs none of them again", async () => {
  const [last] = FILES.slice(-1);
  await database.knex("knex_migrations").where({ name: last }).del();
  const processes = await watchProcesses(database.name);
  const other = await connectTo(database.url);
  await other.query("BEGIN");
  await other.query("SELECT * FROM knex_migrations_lock FOR UPDATE");

  const run = migrateToLatest(database.knex).catch((error) => error);
  await expect.poll(() => processes.running("update `knex_migrations_lock`")).toHaveLength(1);
  await other.query("INSERT INTO knex_migrations (name, batch) VALUES (?, 1)", [last]);
  await other.query("COMMIT");
  expect(await run).toBeInstanceOf(AnotherRun);
  expect(await recorded()).toEqual(FILES);
  expect(await locks()).toEqual([0]);
  await other.end();
  await processes.close();
});
