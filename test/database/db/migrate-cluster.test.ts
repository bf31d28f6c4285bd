/**
 * Migrating on several nodes of a cluster at once, where no lock of one node holds on another. On
 * this one server, runs that lock different rows stand for runs on different nodes.
 */
import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Knex } from "knex";
import { createConnection } from "mysql2/promise";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { migrateToLatest } from "../../../src/db/migrate.ts";
import { createPool } from "../../../src/db/pool.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { SOAK } from "../../support/soak.ts";

const FILES = readdirSync(new URL("../../../src/db/migrations", import.meta.url)).sort();

let database: TestDatabase;
let pools: Knex[];
beforeEach(async () => {
  database = await createDatabase();
  pools = [1, 2, 3].map(() => createPool(parseDatabaseUrl(database.url)));
});
afterEach(async () => {
  await Promise.all(pools.map((pool) => pool.destroy()));
  await database.drop();
});

/** Makes the database empty, as before its first migration. */
async function empty(): Promise<void> {
  const server = await createConnection(inject("databaseServer"));
  await server.query(`DROP DATABASE ${database.name}`);
  await server.query(`CREATE DATABASE ${database.name}`);
  await server.end();
}

/** The columns and keys of all tables but those of the migrations. */
async function schema(): Promise<unknown> {
  const [columns] = await database.knex.raw(
    `SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, COLUMN_DEFAULT FROM information_schema.COLUMNS
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME NOT LIKE '%migration%' ORDER BY 1, 2`,
  );
  const [keys] = await database.knex.raw(
    `SELECT TABLE_NAME, INDEX_NAME, COLUMN_NAME FROM information_schema.STATISTICS
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME NOT LIKE '%migration%'
     ORDER BY 1, 2, SEQ_IN_INDEX`,
  );
  return { columns, keys };
}

const recordOf = (name?: string) => database.knex("knex_migrations").where({ name });
const recorded = () => database.knex("knex_migrations").orderBy("name").pluck("name");
const forgetLast = () => recordOf(FILES.at(-1)).del();
const lease = () => database.knex("migration_lease").where({ id: 1 });

describe("runs on several nodes at once", () => {
  it("run each migration once: one run does it, the others wait for its lease", async () => {
    const expected = await schema();
    for (let round = 0; round < 3 * SOAK; round++) {
      await empty();
      const runs = await Promise.all(
        pools.map((pool, node) => migrateToLatest(pool, () => {}, { guard: node + 1 })),
      );
      expect(runs.map((names) => names.length).sort()).toEqual([0, 0, FILES.length]);
      expect(await recorded()).toEqual(FILES);
    }
    expect(await schema()).toEqual(expected);
  });

  it("succeed and record each name once, also if they take the lease from each other", async () => {
    const expected = await schema();
    for (let round = 0; round < 5 * SOAK; round++) {
      await empty();
      await Promise.all(
        pools.map((pool, node) =>
          migrateToLatest(pool, () => {}, { guard: node + 1, leaseTimeout: 0 }),
        ),
      );
      expect(await recorded()).toEqual(FILES);
      expect(await schema()).toEqual(expected);
    }
  });
});

describe("a lease", () => {
  beforeEach(async () => {
    await migrateToLatest(database.knex);
    await forgetLast();
  });

  it("that its owner renews is waited for", async () => {
    await lease().update({ owner: "another run", place: "another server" });
    const lines: string[] = [];
    const options = { leaseTimeout: 500 };
    const run = migrateToLatest(pools[0] as Knex, (line) => lines.push(line), options);
    for (let renewals = 0; renewals < 40; renewals++) {
      await lease().increment("renewals");
      await sleep(25);
    }
    expect(lines).toEqual(["another migration is running; waiting for it"]);
    expect(await recorded()).toEqual(FILES.slice(0, -1));
    await lease().update({ owner: "" });
    expect(await run).toEqual(FILES.slice(-1));
  });

  it("of a run that was killed on another node expires", async () => {
    await lease().update({ owner: "killed run", place: "another server" });
    const began = performance.now();
    const options = { leaseTimeout: 300 };
    expect(await migrateToLatest(pools[0] as Knex, () => {}, options)).toEqual(FILES.slice(-1));
    expect(performance.now() - began).toBeGreaterThan(300);
  });

  it("is free after a run, and after a run that failed", async () => {
    await migrateToLatest(pools[0] as Knex);
    expect(await lease().pluck("owner")).toEqual([""]);
    await database.knex("knex_migrations").insert({ name: "0000_unknown.ts", batch: 1 });
    await expect(migrateToLatest(pools[0] as Knex)).rejects.toThrow("0000_unknown.ts");
    expect(await lease().pluck("owner")).toEqual([""]);
  });
});

it("an install of an earlier version, with names twice, gets each name once and a key that keeps it so", async () => {
  const { knex } = database;
  await knex.raw("ALTER TABLE knex_migrations DROP KEY knex_migrations_by_name");
  await knex.raw("DROP TABLE migration_lease");
  await knex.raw(
    "INSERT INTO knex_migrations (name, batch) SELECT name, batch FROM knex_migrations",
  );
  expect(await recorded()).toHaveLength(2 * FILES.length);
  const runs = await Promise.all(
    pools.map((pool, node) => migrateToLatest(pool, () => {}, { guard: node + 1 })),
  );
  expect(runs).toEqual([[], [], []]);
  expect(await recorded()).toEqual(FILES);
  const again = knex("knex_migrations").insert({ name: FILES[0], batch: 1 });
  await expect(again).rejects.toMatchObject({ code: "ER_DUP_ENTRY" });
});

it("an error that no other run has caused ends a run", async () => {
  await empty();
  await database.knex.raw("CREATE TABLE servers (id int)");
  await database.knex.raw("CREATE VIEW charges AS SELECT 1 AS id");
  const began = performance.now();
  await expect(migrateToLatest(pools[0] as Knex)).rejects.toThrow(/charges/);
  expect(performance.now() - began).toBeLessThan(5_000);
});
