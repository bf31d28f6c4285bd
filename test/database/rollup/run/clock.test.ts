/**
 * The watermark that a run may move to. On a server of its own: InnoDB shows the same list of
 * transactions until nobody has read it for 0.1 s. It runs where clocks change by half an hour: it
 * shows starts in the zone of its operating system.
 */
import { randomBytes } from "node:crypto";
import type { Knex } from "knex";
import { afterAll, beforeEach, expect, it, vi } from "vitest";
import { startPrivateDatabase } from "../../../../dev/private-database/private-database.ts";
import { TIME_LIMIT } from "../../../../dev/time-limit.ts";
import { fromDatetime } from "../../../../src/db/datetime.ts";
import { migrateToLatest } from "../../../../src/db/migrate.ts";
import { readClock } from "../../../../src/rollup/write/run/clock.ts";
import { canSeeTransactions, utcOf } from "../../../../src/rollup/write/run/writers.ts";
import { connectTo, testPool } from "../../../support/database.ts";
import { until } from "../../../support/poll.ts";

vi.stubEnv("TZ", "Australia/Lord_Howe");
const server = await startPrivateDatabase({ bufferPool: "64M" });
vi.unstubAllEnvs();
const connect = (maxConnections: number) => testPool(server.url, { maxConnections });
const database = connect(10);
const [writer, dump, reader] = [connect(1), connect(1), connect(1)] as const;
await migrateToLatest(database);
await database("providers").insert({ id: 1, name: "provider" });
beforeEach(() => database("charges").delete());
afterAll(async () => {
  for (const pool of [reader, dump, writer, database]) await pool.destroy();
  await server.stop();
});

/** How long a lock is waited for. */
const SECONDS = TIME_LIMIT / 1_000;
/** The smallest margin, in ms. */
const SECOND = 1_000;
const CHARGE = { provider_id: 1, server_id: 1, charged_at: "2026-01-10", gross: "1.00" };
const sleep = (seconds: number) => database.raw("DO SLEEP(?)", [seconds]);
/** Resolves when the server's list of transactions is no longer that of the last reading. */
const settle = () => sleep(0.12);
const clock = async (margin = 0) => {
  await settle();
  return readClock(database, margin, true);
};
const behind = ({ now, until }: { readonly now: string; readonly until: string }) =>
  fromDatetime(now) - fromDatetime(until);

it("is the database's time minus the margin, in UTC", async () => {
  const { now, until, waitsFor } = await readClock(database, 60_000, true);
  expect(Math.abs(fromDatetime(now) - Date.now())).toBeLessThan(TIME_LIMIT);
  expect(behind({ now, until })).toBe(60_000);
  expect(waitsFor).toBeUndefined();
});

it("stays before what an open transaction has written, and passes those that have only read", async () => {
  const open = await writer.transaction();
  await open("charges").first();
  expect(behind(await clock())).toBe(0);
  await open("charges").insert(CHARGE);
  const { recorded_at } = await open("charges").first("recorded_at");
  const { now, until } = await clock(SECOND);
  expect(until < recorded_at).toBe(true);
  // Lord Howe's clocks are put back by half an hour.
  expect(behind({ now, until })).toBeLessThan(30 * 60_000 + TIME_LIMIT);
  expect((await clock()).waitsFor).toBeDefined();
  await open.rollback();
  expect(behind(await clock())).toBe(0);
});

it("statements with bytes that are not text, in other sessions, do not hide open transactions", async () => {
  // MySQL 9 fails to list its sessions while one of them runs such a statement.
  const open = await writer.transaction();
  await open("charges").insert(CHARGE);
  await settle();
  const busy = await connectTo(server.url);
  let ended = false;
  const load = (async () => {
    const sql = "SELECT 1 FROM api_keys WHERE key_hash = ?";
    while (!ended) await busy.execute(sql, [randomBytes(32)]);
  })();
  for (let nth = 0; nth < 20; nth++) {
    expect((await readClock(database, 0, true)).waitsFor).toBeDefined();
  }
  ended = true;
  await load;
  await busy.end();
  await open.rollback();
});

it("transactions are visible to an account with PROCESS only", async () => {
  const name = `clock_${randomBytes(6).toString("hex")}`;
  const url = Object.assign(new URL(server.url), { username: name, password: name });
  await database.raw(`CREATE USER ${name} IDENTIFIED BY '${name}'`);
  for (const privilege of ["SELECT ON revenue.*", "PROCESS ON *.*"]) {
    await database.raw(`GRANT ${privilege} TO ${name}`);
    const account = testPool(url.href, { maxConnections: 1 });
    expect(await canSeeTransactions(account)).toBe(privilege.startsWith("PROCESS"));
    await account.destroy();
  }
  await database.raw(`DROP USER ${name}`);
});

const lastRecorded = async (): Promise<string> =>
  (await database("charges").max("recorded_at AS last").first())?.last;

/** Starts a statement. Resolves when it waits for a lock, to its end. */
async function start(session: Knex, sql: string): Promise<{ readonly ended: Promise<unknown> }> {
  const ended = session.raw(sql).then();
  await until(async () => {
    const waiting = `SELECT 1 FROM information_schema.PROCESSLIST
      WHERE INFO = ? AND STATE LIKE '% lock'`;
    return (await database.raw(waiting, [sql]))[0].length > 0;
  });
  return { ended };
}

/** Resolves when so many statements wait for a lock that a session has named. */
const untilInUserLock = (count: number) =>
  until(async () => {
    const sql = "SELECT 1 FROM information_schema.PROCESSLIST WHERE STATE = 'User lock'";
    return (await database.raw(sql))[0].length === count;
  });

const INSERT = "INSERT INTO charges (provider_id, server_id, charged_at, gross)";
it("the watermark waits for a statement that goes on after its wait", async () => {
  await dump.raw("LOCK TABLES charges READ");
  await reader.raw("DO GET_LOCK('going on', 0)");
  const { ended } = await start(
    writer,
    `${INSERT} SELECT id, 1, '2026-01-10', 1 FROM providers WHERE GET_LOCK(CONCAT('going on', LEFT(name, 0)), ${SECONDS}) FOR UPDATE`,
  );
  // The start of a transaction is in whole seconds, and one more is taken off.
  await sleep(2.1);
  await dump.raw("UNLOCK TABLES");
  await untilInUserLock(1);
  const { until: watermark } = await clock(SECOND);
  await reader.raw("DO RELEASE_LOCK('going on')");
  await ended;
  await writer.raw("DO RELEASE_LOCK('going on')");
  expect(watermark < (await lastRecorded())).toBe(true);
});

it("the watermark waits for a statement that reads something slow before its first row", async () => {
  await reader.raw("DO GET_LOCK('slow', 0)");
  const slow = `SELECT 1, GET_LOCK('slow', ${SECONDS}), '2026-01-10', 1`;
  const ended = writer.raw(`/* a job */ ${INSERT} ${slow}`);
  const reading = dump.raw(`(/* a report */ ${slow})`);
  // A Knex query is sent when somebody waits for it.
  const both = Promise.all([ended, reading.then(() => dump.raw("DO RELEASE_LOCK('slow')"))]);
  await untilInUserLock(2);
  const written = "SELECT 1 FROM information_schema.INNODB_TRX WHERE trx_rows_modified > 0";
  expect((await database.raw(written))[0]).toEqual([]);
  const { until: watermark } = await clock(SECOND);
  expect((await clock()).waitsFor).toBeDefined();
  await reader.raw("DO RELEASE_LOCK('slow')");
  await writer.raw("DO RELEASE_LOCK('slow')");
  await both;
  expect(watermark < (await lastRecorded())).toBe(true);
  expect(await clock()).toMatchObject({ waitsFor: undefined });
});

it("the watermark passes idle sessions, and other waits", async () => {
  await dump.raw("LOCK TABLES charges READ, providers READ");
  await reader.raw("DO GET_LOCK(DATABASE(), 0)");
  const waiting = await start(writer, `DO GET_LOCK(DATABASE(), ${SECONDS})`);
  expect(await clock()).toMatchObject({ waitsFor: undefined });
  await reader.raw("DO RELEASE_LOCK(DATABASE())");
  await waiting.ended;
  await dump.raw("UNLOCK TABLES");
});

it("a local time is the earlier of the two instants that it may be, or up to an hour before", async () => {
  for (const [local, utc] of [
    ["2026-04-05 01:29:59", "2026-04-04 14:29:59"],
    ["2026-04-05 01:30:00", "2026-04-04 14:30:00"], // from here to 02:00 there are two
    ["2026-04-05 01:59:59", "2026-04-04 14:59:59"],
    ["2026-04-05 02:00:00", "2026-04-04 15:00:00"], // 15:30
    ["2026-04-05 03:00:00", "2026-04-04 16:30:00"],
    ["2026-10-04 01:59:59", "2026-10-03 15:29:59"],
    ["2026-10-04 02:30:00", "2026-10-03 15:30:00"],
  ]) {
    const [[row]] = await database.raw(`SELECT ${utcOf(`TIMESTAMP'${local}'`)} AS utc`);
    expect(row, local).toEqual({ utc });
  }
});
