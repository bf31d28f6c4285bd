import { readdirSync } from "node:fs";
import type { Knex } from "knex";
import { createConnection } from "mysql2/promise";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { migrateToLatest, migrations, pendingMigrations } from "../../../src/db/migrate.ts";
import { createPool } from "../../../src/db/pool.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

const FILES = readdirSync(new URL("../../../src/db/migrations", import.meta.url)).sort();

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

/** Makes the database as it was before the first migration ever ran. */
async function empty(): Promise<void> {
  const server = await createConnection(inject("databaseServer"));
  await server.query(`DROP DATABASE ${database.name}`);
  await server.query(`CREATE DATABASE ${database.name}`);
  await server.end();
}

/** Several pools to the database, as several processes have them. */
async function withPools<T>(count: number, use: (pools: Knex[]) => Promise<T>): Promise<T> {
  const url = parseDatabaseUrl(database.url);
  const pools = Array.from({ length: count }, () => createPool(url));
  try {
    return await use(pools);
  } finally {
    await Promise.all(pools.map((pool) => pool.destroy()));
  }
}

/** Every table with its columns and keys, as the server tells them. */
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
  it("an empty database runs every migration, in order, and says so", async () => {
    await empty();
    const said: string[] = [];
    expect(await pendingMigrations(database.knex)).toEqual(FILES);
    expect(await migrateToLatest(database.knex, (line) => said.push(line))).toEqual(FILES);
    expect(said).toEqual(FILES.map((file) => `ran ${file}`));
    expect(await pendingMigrations(database.knex)).toEqual([]);
  });

  it("again does nothing, and keeps the rows", async () => {
    await database.knex("providers").insert({ id: 7, name: "first" });
    const before = await schemaOf(database.knex);
    expect(await migrateToLatest(database.knex)).toEqual([]);
    expect(await schemaOf(database.knex)).toEqual(before);
    expect(await database.knex("providers").select("id", "name")).toEqual([
      { id: "7", name: "first" },
    ]);
  });

  it("five times at once runs each migration once; the others wait, and find nothing to do", async () => {
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

  it("down and up again comes to the same schema", async () => {
    const before = await schemaOf(database.knex);
    await database.knex.migrate.rollback(migrations, true);
    expect(await schemaOf(database.knex)).toEqual([]);
    expect(await pendingMigrations(database.knex)).toEqual(FILES);
    expect(await migrateToLatest(database.knex)).toEqual(FILES);
    expect(await schemaOf(database.knex)).toEqual(before);
  });
});

describe("a run that was killed", () => {
  it("after a table was made, before that was noted, with Knex's lock held, is carried on", async () => {
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

  it("lets the next one in as soon as the server notices", async () => {
    const killed = await createConnection(database.url);
    killed.on("error", () => {}); // it is killed below
    await killed.query("BEGIN");
    await killed.query("SELECT id FROM migration_guard WHERE id = 1 FOR UPDATE");

    const said: string[] = [];
    const run = migrateToLatest(database.knex, (line) => said.push(line));
    await expect
      .poll(() => said, { timeout: 10_000 })
      .toEqual(["another migration is running; waiting for it"]);
    await database.knex.raw(`KILL ${killed.threadId}`);
    expect(await run).toEqual([]);
  });
});

describe("the pending migrations", () => {
  it("are those whose names are not noted, in order", async () => {
    const missing = FILES.filter((_, index) => index === 1 || index === 4);
    await database.knex("knex_migrations").whereIn("name", missing).del();
    expect(await pendingMigrations(database.knex)).toEqual(missing);
  });

  it("cannot be told where the database does not answer", async () => {
    const absent = createPool({ ...parseDatabaseUrl(database.url), port: 1 });
    await expect(pendingMigrations(absent)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    await absent.destroy();
  });
});
