import { readdirSync } from "node:fs";
import type { Knex } from "knex";
import { createConnection } from "mysql2/promise";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { migrateToLatest, migrations } from "../../../src/db/migrate.ts";
import { pendingMigrations } from "../../../src/db/pending-migrations.ts";
import { createPool } from "../../../src/db/pool.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

const FILES = readdirSync(new URL("../../../src/db/migrations", import.meta.url)).sort();

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

/** Makes the database empty, as before its first migration. */
async function empty(): Promise<void> {
  const server = await createConnection(inject("databaseServer"));
  await server.query(`DROP DATABASE ${database.name}`);
  await server.query(`CREATE DATABASE ${database.name}`);
  await server.end();
}

/** Calls `use` with several pools, which stand for several processes. */
async function withPools<T>(count: number, use: (pools: Knex[]) => Promise<T>): Promise<T> {
  const url = parseDatabaseUrl(database.url);
  const pools = Array.from({ length: count }, () => createPool(url));
  try {
    return await use(pools);
  } finally {
    await Promise.all(pools.map((pool) => pool.destroy()));
  }
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

describe("migrating", () => {
  it("an empty database runs every migration in order, and reports each", async () => {
    await empty();
    const reported: string[] = [];
    expect(await pendingMigrations(database.knex)).toEqual(FILES);
    expect(await migrateToLatest(database.knex, (line) => reported.push(line))).toEqual(FILES);
    expect(reported).toEqual(FILES.map((file) => `ran ${file}`));
    expect(await pendingMigrations(database.knex)).toEqual([]);
  });

  it("an up-to-date database does nothing, and keeps its rows", async () => {
    await database.knex("providers").insert({ id: 7, name: "first" });
    const before = await schemaOf(database.knex);
    expect(await migrateToLatest(database.knex)).toEqual([]);
    expect(await schemaOf(database.knex)).toEqual(before);
    expect(await database.knex("providers").select("id", "name")).toEqual([
      { id: "7", name: "first" },
    ]);
  });

  it("concurrently runs each migration once: one run does it, the others wait", async () => {
    const expected = await schemaOf(database.knex);
    await empty();
    const runs = await withPools(5, (pools) =>
      Promise.all(pools.map((pool) => migrateToLatest(pool))),
    );
    expect(runs.map((names) => names.length).sort()).toEqual([0, 0, 0, 0, FILES.length]);
    expect(await schemaOf(database.knex)).toEqual(expected);
    const completed = await database.knex("knex_migrations").orderBy("id").pluck("name");
    expect(completed).toEqual(FILES);
  });

  it("down and up again restores the schema", async () => {
    const before = await schemaOf(database.knex);
    await database.knex.migrate.rollback(migrations, true);
    expect(await schemaOf(database.knex)).toEqual([]);
    expect(await pendingMigrations(database.knex)).toEqual(FILES);
    expect(await migrateToLatest(database.knex)).toEqual(FILES);
    expect(await schemaOf(database.knex)).toEqual(before);
  });
});

describe("a run that was killed", () => {
  it("after it created a table, before it recorded that, while it held Knex's lock, is completed by the next run", async () => {
    const expected = await schemaOf(database.knex);
    const [last] = FILES.slice(-1);
    await database.knex("knex_migrations").where({ name: last }).del();
    await database.knex("knex_migrations_lock").del();
    await database.knex("knex_migrations_lock").insert({ index: 1, is_locked: 1 });
    expect(await pendingMigrations(database.knex)).toEqual([last]);
    expect(await migrateToLatest(database.knex)).toEqual([last]);
    expect(await schemaOf(database.knex)).toEqual(expected);
    expect(await database.knex("knex_migrations_lock").pluck("is_locked")).toEqual([0]);
  });

  it("does not block the next run once the server has closed its connection", async () => {
    const killed = await createConnection(database.url);
    killed.on("error", () => {}); // it is killed below
    await killed.query("BEGIN");
    await killed.query("SELECT id FROM migration_guard WHERE id = 1 FOR UPDATE");

    const reported: string[] = [];
    const run = migrateToLatest(database.knex, (line) => reported.push(line));
    await expect
      .poll(() => reported, { timeout: 10_000 })
      .toEqual(["another migration is running; waiting for it"]);
    await database.knex.raw(`KILL ${killed.threadId}`);
    expect(await run).toEqual([]);
  });
});

describe("the pending migrations", () => {
  it("are those that are not recorded, in order", async () => {
    const missing = FILES.filter((_, index) => index === 1 || index === 4);
    await database.knex("knex_migrations").whereIn("name", missing).del();
    expect(await pendingMigrations(database.knex)).toEqual(missing);
  });

  it("reject with the driver's error if the database is unavailable", async () => {
    const unavailable = createPool({ ...parseDatabaseUrl(database.url), port: 1 });
    await expect(pendingMigrations(unavailable)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    await unavailable.destroy();
  });
});
