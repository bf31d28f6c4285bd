/** The watermark that a run may move to. */
import { randomBytes } from "node:crypto";
import type { Knex } from "knex";
import { type ConnectionOptions, createConnection } from "mysql2";
import { afterEach, beforeEach, expect, it } from "vitest";
import { parseDatabaseUrl } from "../../../../src/config.ts";
import { fromDatetime } from "../../../../src/db/datetime.ts";
import { createPool } from "../../../../src/db/pool.ts";
import { canSeeTransactions, readClock } from "../../../../src/rollup/write/pass/clock.ts";
import { rollUp } from "../../../../src/rollup/write/run.ts";
import { verify } from "../../../../src/rollup/write/verify.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { until } from "../../../support/poll.ts";

let database: TestDatabase;
let writer: Knex;
beforeEach(async () => {
  database = await createDatabase();
  writer = createPool(parseDatabaseUrl(database.url), { maxConnections: 1 });
  await database.knex("providers").insert({ id: 1, name: "provider" });
});
afterEach(async () => {
  await writer.destroy();
  await database.drop();
});

const CHARGE = { provider_id: 1, server_id: 1, charged_at: "2026-01-10", gross: "1.00" };
/** The clock, read when the server's list of transactions is no longer that of the last reading. */
const clock = async () => {
  await settle();
  return readClock(database.knex, 0, true);
};
/** InnoDB shows the same list again for 0.1 s after each reading, by anybody. */
const settle = () => database.knex.raw("DO SLEEP(0.2)");
const behind = ({ now, until }: { readonly now: string; readonly until: string }) =>
  fromDatetime(now) - fromDatetime(until);

it("is the database's time minus the margin, in UTC", async () => {
  const { now, until, waitsFor } = await readClock(database.knex, 60_000, true);
  expect(Math.abs(fromDatetime(now) - Date.now())).toBeLessThan(60_000);
  expect(behind({ now, until })).toBe(60_000);
  expect(waitsFor).toBeUndefined();
});

it("does not pass what an open transaction has written", async () => {
  const open = await writer.transaction();
  await open("charges").insert(CHARGE);
  const { recorded_at } = await open("charges").first("recorded_at");
  const { now, until, waitsFor } = await clock();
  expect(until < recorded_at).toBe(true);
  expect(behind({ now, until })).toBeLessThan(60_000);
  expect(waitsFor).toBeDefined();
  await open.rollback();
  expect(behind(await clock())).toBe(0);
});

it("passes transactions that have only read, and those of other systems on the server", async () => {
  const open = await writer.transaction();
  await open("charges").first();
  expect(behind(await clock())).toBe(0);
  await open("charges").insert(CHARGE);
  await open.raw("USE information_schema");
  expect(behind(await clock())).toBe(0);
  await open.raw(`USE ${database.name}`);
  expect(behind(await clock())).toBeGreaterThan(0);
  await open.rollback();
});

it("a charge of a transaction that is open for longer than the margin is never missing", async () => {
  const open = await writer.transaction();
  await open("charges").insert(CHARGE);
  await database.knex("charges").insert(CHARGE);
  await settle();
  await rollUp(database.knex, { margin: 0, seesTransactions: true });
  await open.commit();
  await settle();
  expect(await Array.fromAsync(verify(database.knex, "1"))).toEqual([]);
  const result = await rollUp(database.knex, { margin: 0, seesTransactions: true });
  expect(result).toMatchObject({ charges: 2, repairs: 0 });
});

it("statements with bytes that are not text, in other sessions, do not hide open transactions", async () => {
  // MySQL 9 fails to list its sessions while one of them runs such a statement.
  const transaction = await writer.transaction();
  await transaction("charges").insert(CHARGE);
  await until(20_000, async () => (await clock()).waitsFor !== undefined);
  const reader = createConnection({ ...parseDatabaseUrl(database.url) } as ConnectionOptions);
  let ended = false;
  const load = (async () => {
    while (!ended) {
      const sql = "SELECT 1 FROM api_keys WHERE key_hash = ?";
      await reader.promise().execute(sql, [randomBytes(32)]);
    }
  })();
  try {
    for (let nth = 0; nth < 20; nth++) {
      expect(await canSeeTransactions(database.knex)).toBe(true);
      expect(await readClock(database.knex, 0, true)).toMatchObject({
        waitsFor: expect.anything(),
      });
    }
  } finally {
    ended = true;
    await load;
  }
  reader.destroy();
  await transaction.rollback();
});

it("transactions are visible to an account with PROCESS only", async () => {
  const name = `clock_${randomBytes(6).toString("hex")}`;
  await database.knex.raw(`CREATE USER ${name} IDENTIFIED BY '${name}'`);
  await database.knex.raw(`GRANT SELECT ON ${database.name}.* TO ${name}`);
  const url = Object.assign(new URL(database.url), { username: name, password: name });
  const account = createPool(parseDatabaseUrl(url.href), { maxConnections: 1 });
  expect(await canSeeTransactions(account)).toBe(false);
  await account.destroy();
  await database.knex.raw(`GRANT PROCESS ON *.* TO ${name}`);
  const privileged = createPool(parseDatabaseUrl(url.href), { maxConnections: 1 });
  expect(await canSeeTransactions(privileged)).toBe(true);
  await privileged.destroy();
  await database.knex.raw(`DROP USER ${name}`);
});
