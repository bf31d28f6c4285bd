/** What a run tells about itself, its heartbeat, and that one provider holds back no other. */
import { beforeEach, describe, expect, it } from "vitest";
import { TIME_LIMIT } from "../../../../dev/time-limit.ts";
import { parseDatabaseUrl } from "../../../../src/config.ts";
import { fromDatetime } from "../../../../src/db/datetime.ts";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { createRollupPool } from "../../../../src/rollup/write/run/pool.ts";
import { CHECK_PERIOD, rollUp as runOnce } from "../../../../src/rollup/write/run.ts";
import { startDatabaseProxy } from "../../../support/database-proxy.ts";
import { addBulk } from "../../../support/rollup/bulk.ts";
import { type RollupResult, rollUp } from "../../../support/rollup/roll-up.ts";
import { databaseOfFile, LEDGER } from "../../file-database.ts";
import { rollupOf } from "../write/built.ts";
import { expectStored } from "../write/oracle.ts";

const PROVIDERS = [1, 2, 3];

const database = await databaseOfFile(["providers", ...LEDGER]);
beforeEach(async () => {
  for (const id of PROVIDERS) {
    await database.knex("providers").insert({ id, name: "provider" });
    await insertCharge(id, "2025-12-01");
  }
});

/** Inserts a charge of 1.00, recorded now by default. */
const insertCharge = (provider_id: number, recorded_at?: string) =>
  database.knex("charges").insert({
    provider_id,
    server_id: 1,
    charged_at: "2025-09-05",
    gross: "1.00",
    ...(recorded_at !== undefined && { recorded_at }),
  });
const watermark = async (id: number) => (await rollupOf(database.knex, `${id}`))?.watermark;
const clock = async (): Promise<string> =>
  (await database.knex.raw("SELECT UTC_TIMESTAMP(3) AS now"))[0][0].now;
const HOUR = 3_600_000;

it("a run that brings everything up to date lags behind by the margin", async () => {
  const result = await rollUp(database.knex, { margin: HOUR });
  expect(result).toMatchObject({ news: 3, behind: 0, lag: HOUR, repairs: 0, unfinished: false });
  expect(result.duration).toBeGreaterThan(0);
});

it("a rebuild leaves none of the rows that it replaces, of any provider", async () => {
  const options = { margin: HOUR, checkPeriod: CHECK_PERIOD };
  for (const rebuild of [false, true]) await rollUp(database.knex, { ...options, rebuild });
  for (const table of [TABLES.sums, TABLES.increments]) {
    expect(await database.knex(table).distinct("provider_id", "slot")).toHaveLength(3);
  }
});

/** Sets when the check of each provider is due, in minutes from now. */
async function dueIn(...minutes: readonly number[]): Promise<void> {
  for (const [nth, id] of PROVIDERS.entries()) {
    const check_at = database.knex.raw("UTC_TIMESTAMP(3) + INTERVAL ? MINUTE", [minutes[nth] ?? 0]);
    await database.knex(TABLES.rollups).where({ provider_id: id }).update({ check_at });
  }
}

it.each([
  ["all that are due, and no other", [-20, -10, 50], [1, 2]],
  [
    "also those that are due in more than a period, which another period has set",
    [-10, 50, 90],
    [1, 3],
  ],
])("of rollups, a run checks %s", async (_, minutes, expected) => {
  const { knex } = database;
  await rollUp(knex, { margin: 0 });
  await dueIn(...minutes);
  const read = () => knex(TABLES.rollups).orderBy("provider_id").pluck("check_at");
  const before = await read();
  const { checked } = await rollUp(knex, { margin: 0, checkPeriod: HOUR });
  const after = await read();
  expect(PROVIDERS.filter((_, nth) => before[nth] !== after[nth])).toEqual(expected);
  expect(checked).toBe(expected.length);
});

it("a run tells the age of the check that is the oldest, which is above the period while one waits", async () => {
  const { knex } = database;
  await rollUp(knex, { margin: 0 });
  await dueIn(-20, -10, 0);
  const options = { margin: 0, checkPeriod: HOUR, concurrency: 1 };
  const waiting = await rollUp(knex, { ...options, maxTime: 0 });
  expect(waiting.checked).toBe(1);
  expect(waiting.checkAge).toBeGreaterThanOrEqual(70 * 60_000);
  expect(waiting.checkAge).toBeLessThan(70 * 60_000 + TIME_LIMIT);
  const { checkAge } = await rollUp(knex, options);
  expect(checkAge).toBeLessThan(HOUR);
});

it("a provider that fails is behind, with the reason; the others are not", async () => {
  await rollUp(database.knex, { margin: 0 });
  await database.knex("rollups").update({ watermark: "2026-01-01 00:00:00.000" });
  await database.knex.raw(
    `CREATE TRIGGER failing BEFORE UPDATE ON rollups FOR EACH ROW
     BEGIN
       IF NEW.provider_id = 2 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'only this'; END IF;
     END`,
  );
  for (const id of PROVIDERS) await insertCharge(id, "2026-02-01");
  const told = await runOnce(database.knex, { margin: 0, minRows: 1 });
  expect(told.failure?.message).toMatch(/^provider 2: .*only this/);
  expect(told).toMatchObject({ behind: 1, charges: 2 });
  const lag = fromDatetime(await clock()) - fromDatetime("2026-01-01 00:00:00.000");
  expect(Math.abs(lag - told.lag)).toBeLessThan(TIME_LIMIT);
  expect(await Promise.all(PROVIDERS.map(grossOf))).toEqual(["2.00", "1.00", "2.00"]);

  await database.knex.raw("DROP TRIGGER failing");
  await rollUp(database.knex, { margin: 0 });
  expect(await grossOf(2)).toBe("2.00");
});

it("an error that all providers would get ends the run as it is", async () => {
  await database.knex.raw(`RENAME TABLE ${TABLES.sums} TO hidden`);
  const error = await rollUp(database.knex, { margin: 0 }).catch((thrown) => thrown);
  await database.knex.raw(`RENAME TABLE hidden TO ${TABLES.sums}`);
  expect(error).toMatchObject({ code: "ER_NO_SUCH_TABLE" });
});

it("a watermark waits until it can move by a step", async () => {
  await rollUp(database.knex, { margin: 0 });
  const setBack = (id: number, minutes: number) =>
    database
      .knex(TABLES.rollups)
      .where({ provider_id: id })
      .update("watermark", database.knex.raw("UTC_TIMESTAMP(3) - INTERVAL ? MINUTE", [minutes]));
  await Promise.all([setBack(1, 30), setBack(2, 120), setBack(3, 30)]);
  const before = await watermark(1);
  for (const id of [1, 2]) await insertCharge(id);
  const waiting = await rollUp(database.knex, { margin: 0, step: HOUR });
  expect(waiting).toMatchObject({ news: 1, behind: 0, charges: 1 });
  expect(await watermark(1)).toBe(before);
  expect(await rollUp(database.knex, { margin: 0 })).toMatchObject({ news: 1, charges: 1 });
});

it("the heartbeat of a run is the database's clock", async () => {
  const before = await clock();
  await rollUp(database.knex, { margin: 0 });
  const written = await database.knex("heartbeat");
  expect(written).toEqual([{ id: 1, written_at: expect.anything() }]);
  const [{ written_at }] = written;
  expect(before <= written_at && written_at <= (await clock())).toBe(true);
});

const grossOf = async (id: number) => (await rollupOf(database.knex, `${id}`))?.gross;

it("a provider whose row another session keeps locked holds back only itself", async () => {
  await rollUp(database.knex, { margin: 0 });
  for (const id of PROVIDERS) await insertCharge(id);
  const holder = await database.knex.transaction();
  await holder(TABLES.rollups).where({ provider_id: 2 }).forUpdate();
  const run = rollUp(database.knex, { margin: 0, concurrency: 2 });
  try {
    for (const id of [1, 3]) {
      await expect.poll(() => grossOf(id)).toBe("2.00");
    }
    expect(await grossOf(2)).toBe("1.00");
  } finally {
    await holder.commit();
  }
  expect(await run).toMatchObject({ news: 3, behind: 0, charges: 3 });
});

it("a build that takes longer than a run goes on after the others, which every run brings up to date", async () => {
  await rollUp(database.knex, { margin: 0 });
  await addBulk(database.knex, [{ provider: 4, servers: 2, instances: 2, charges: 500 }]);
  const runs: RollupResult[] = [];
  do {
    await insertCharge(2);
    runs.push(await rollUp(database.knex, { margin: 0, maxTime: 1, concurrency: 1 }));
    expect(await grossOf(2)).toBe(`${runs.length + 1}.00`);
  } while (runs.at(-1)?.unfinished && runs.length < 100);
  expect(runs.length).toBeGreaterThan(1);
  expect(runs.reduce((charges, run) => charges + run.charges, 0)).toBe(500 + runs.length);
  await expectStored(database.knex, "4");
});

describe("the sessions of the command", async () => {
  const [[{ version }]] = await database.knex.raw("SELECT VERSION() AS version");
  // MySQL has the variable of a group in a server that is in none, which is not told to wait.
  const knows = version.includes("MariaDB");
  const line = expect.stringContaining(
    "cannot set wsrep_sync_wait, so the rollup may read a node that lags: ",
  );

  it.each([
    ["wait for the cluster where the server knows how to", "1", []],
    ["warn where the server refuses to", "0", [line]],
  ])("%s", async (_, value, expected) => {
    // Both names are as long as those that no server knows.
    const proxy = await startDatabaseProxy(database.url, (sent) => {
      const at = sent.indexOf("SET SESSION wsrep_sync_wait");
      if (at >= 0 && value === "0") sent.write("SET SESSION x", at);
      return false;
    });
    const warnings: string[] = [];
    const pool = createRollupPool(parseDatabaseUrl(proxy.url), 2, (each) => warnings.push(each));
    const [variables] = await pool.raw("SHOW SESSION VARIABLES LIKE 'wsrep_sync_wait'");
    await pool.destroy();
    await proxy.close();
    expect(variables.map(({ Value }: { Value: string }) => Value)).toEqual(knows ? [value] : []);
    expect(warnings).toEqual(knows ? expected : []);
  });
});
