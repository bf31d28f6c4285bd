/** What a run tells about itself, and its heartbeat. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { fromDatetime } from "../../../../src/db/datetime.ts";
import { createHeartbeat } from "../../../../src/rollup/write/pass/heartbeat.ts";
import { type RollupResult, rollUp } from "../../../../src/rollup/write/run.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { charge } from "../write/built.ts";

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase();
  for (const id of [1, 2]) {
    await database.knex("providers").insert({ id, name: "provider" });
    await database
      .knex("charges")
      .insert({ ...charge("2025-09-05", "2025-12-01"), provider_id: id });
  }
});
afterEach(() => database.drop());

const watermark = async (id: number) =>
  (await database.knex("rollups").where({ provider_id: id }).first("watermark"))?.watermark;
const HOUR = 3_600_000;

it("a run that brings everything up to date lags behind by the margin", async () => {
  const result = await rollUp(database.knex, { margin: HOUR });
  expect(result).toMatchObject({ news: 2, behind: 0, lag: HOUR, repairs: 0 });
  expect(result.duration).toBeGreaterThan(0);
});

it("a provider that fails is behind, which the run tells before it fails", async () => {
  await rollUp(database.knex, { margin: 0 });
  await database.knex("rollups").update({ watermark: "2026-01-01 00:00:00.000" });
  await database.knex.raw(
    `CREATE TRIGGER failing BEFORE UPDATE ON rollups FOR EACH ROW
     BEGIN
       IF NEW.provider_id = 2 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END IF;
     END`,
  );
  for (const id of [1, 2]) {
    await database
      .knex("charges")
      .insert({ ...charge("2025-09-05", "2026-02-01"), provider_id: id });
  }
  const results: RollupResult[] = [];
  const options = { margin: 0, finished: (result: RollupResult) => results.push(result) };
  await expect(rollUp(database.knex, options)).rejects.toThrow("provider 2: ");
  const [told] = results;
  expect(told).toMatchObject({ behind: 1, charges: 1 });
  const [[{ now }]] = await database.knex.raw("SELECT UTC_TIMESTAMP(3) AS now");
  const age = fromDatetime(now) - fromDatetime("2026-01-01 00:00:00.000");
  expect(Math.abs(age - (told?.lag ?? 0))).toBeLessThan(60_000);
});

it("a watermark waits until it can move by a step", async () => {
  await rollUp(database.knex, { margin: 0 });
  await database.knex.raw("UPDATE rollups SET watermark = UTC_TIMESTAMP(3) - INTERVAL 30 MINUTE");
  await database.knex.raw(
    "UPDATE rollups SET watermark = UTC_TIMESTAMP(3) - INTERVAL 2 HOUR WHERE provider_id = 2",
  );
  const before = [await watermark(1), await watermark(2)];
  for (const id of [1, 2]) {
    await database.knex("charges").insert({
      ...{ provider_id: id, server_id: 1, charged_at: "2025-09-05", gross: "1.00" },
    });
  }
  const waiting = await rollUp(database.knex, { margin: 0, step: HOUR });
  expect(waiting).toMatchObject({ news: 1, behind: 0, charges: 1 });
  expect(await watermark(1)).toBe(before[0]);
  expect((await watermark(2)) > before[1]).toBe(true);
  expect(await rollUp(database.knex, { margin: 0 })).toMatchObject({ news: 1, charges: 1 });
});

const writtenAt = async () => (await database.knex("heartbeat").first())?.written_at;

it("a run writes the heartbeat by the database's clock, in UTC", async () => {
  expect(await writtenAt()).toBeUndefined();
  await rollUp(database.knex, { margin: 0 });
  const [[{ now }]] = await database.knex.raw("SELECT UTC_TIMESTAMP(3) AS now");
  const first = await writtenAt();
  expect(fromDatetime(now) - fromDatetime(first)).toBeLessThan(60_000);
  await rollUp(database.knex, { margin: 0 });
  expect((await writtenAt()) > first).toBe(true);
  expect(await database.knex("heartbeat").select("id")).toEqual([{ id: 1 }]);
});

it("runs that share a heartbeat write it at most once a second, and again after a failure", async () => {
  const heartbeat = createHeartbeat();
  await database.knex.raw("RENAME TABLE heartbeat TO hidden");
  await expect(rollUp(database.knex, { margin: 0, heartbeat })).rejects.toThrow("heartbeat");
  await database.knex.raw("RENAME TABLE hidden TO heartbeat");
  await rollUp(database.knex, { margin: 0, heartbeat });
  const first = await writtenAt();
  const started = performance.now();
  await heartbeat(database.knex);
  const second = await writtenAt();
  if (performance.now() - started < 500) expect(second).toBe(first);
});
