import { setTimeout as sleep } from "node:timers/promises";
import type { Knex } from "knex";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { createPool } from "../../../src/db/pool.ts";
import { databaseOfFile } from "../file-database.ts";

const database = await databaseOfFile();
let readOnly: Knex;
beforeAll(async () => {
  readOnly = createPool(parseDatabaseUrl(database.url), { readOnly: true });
});
afterAll(async () => {
  await readOnly.destroy();
});

/** The first row of a query's result. */
async function firstOf(knex: Knex, sql: string): Promise<Record<string, unknown>> {
  const [[row]] = await knex.raw(sql);
  return row;
}

describe("every connection, whatever the server's defaults,", () => {
  it("uses UTC", async () => {
    expect(await firstOf(readOnly, "SELECT @@session.time_zone AS zone")).toEqual({
      zone: "+00:00",
    });
    const { apart } = await firstOf(
      readOnly,
      "SELECT ABS(TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(), CURRENT_TIMESTAMP())) AS apart",
    );
    expect(Number(apart)).toBeLessThanOrEqual(1);
  });

  it("uses strict mode, with backslash escapes", async () => {
    const { mode } = await firstOf(database.knex, "SELECT @@session.sql_mode AS mode");
    expect(new Set(String(mode).split(","))).toEqual(
      new Set([
        "STRICT_TRANS_TABLES",
        "ALLOW_INVALID_DATES",
        "ONLY_FULL_GROUP_BY",
        "ERROR_FOR_DIVISION_BY_ZERO",
        "NO_ENGINE_SUBSTITUTION",
      ]),
    );
  });

  it("uses REPEATABLE READ", async () => {
    const { Value } = await firstOf(
      readOnly,
      "SHOW SESSION VARIABLES WHERE Variable_name IN ('transaction_isolation', 'tx_isolation')",
    );
    expect(Value).toBe("REPEATABLE-READ");
  });
});

describe("a value is returned as the database's text:", () => {
  it.each([
    ["CAST('999999999999.99' AS DECIMAL(14, 2))", "999999999999.99"],
    ["CAST('90071992547409.93' AS DECIMAL(40, 2)) * 100", "9007199254740993.00"],
    ["CAST(18446744073709551615 AS UNSIGNED)", "18446744073709551615"],
    ["TIMESTAMP('2026-03-08 02:30:00.123')", "2026-03-08 02:30:00.123"],
  ])("%s is %j", async (expression, text) => {
    expect(await firstOf(readOnly, `SELECT ${expression} AS value`)).toEqual({ value: text });
  });
});

it.each(["INSERT INTO providers (name) VALUES ('x')", "CREATE TABLE more (id INT)"])(
  "on a read-only pool the server refuses %s",
  async (write) => {
    await expect(readOnly.raw(write)).rejects.toMatchObject({
      code: "ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION",
    });
  },
);

it("a connection is replaced when it has reached its longest life", async () => {
  const knex = createPool(parseDatabaseUrl(database.url), { maxLifetime: 200 });
  const idOf = async () => (await firstOf(knex, "SELECT CONNECTION_ID() AS id")).id;
  const first = await idOf();
  expect(await idOf()).toBe(first);
  await expect.poll(idOf).not.toBe(first);
  await knex.destroy();
});

it("a connection that the pool has closed may fail later without ending the process", async () => {
  const knex = createPool(parseDatabaseUrl(database.url));
  const connection = await knex.client.acquireConnection();
  knex.client.releaseConnection(connection);
  await knex.destroy();
  await sleep(20); // Knex removes its listeners after the connection is closed
  // As if the host were gone: without a listener this is an uncaught exception.
  connection.stream.emit("error", Object.assign(new Error("late"), { code: "EHOSTUNREACH" }));
});
