/** Which providers a run works on, and what it leaves alone. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { TABLES } from "../../../../src/rollup/tables.ts";
import { findNews } from "../../../../src/rollup/write/pass/news.ts";
import { rollUp } from "../../../../src/rollup/write/run.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { addBulk } from "../../../support/rollup/bulk.ts";
import { charge } from "../write/built.ts";

const CUT = "2026-01-20 12:00:00.000";
const CLOCK = {
  now: "2026-01-20 13:00:00.000",
  until: "2026-01-20 12:45:00.000",
  waitsFor: undefined,
};

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(async () => {
  for (const table of ["providers", "charges", "rentals", ...Object.values(TABLES)]) {
    await database.knex(table).del();
  }
  await database.knex("providers").insert([1, 2, 3].map((id) => ({ id, name: "provider" })));
  await database.knex("rollups").insert({ provider_id: 1, generation: 1, cut: CUT });
});
afterAll(() => database.drop());

const news = async (all = false) =>
  (await findNews(database.knex, ["1", "2", "3"], CLOCK, { all })).map(({ provider }) => provider);
const rental = (updated_at: string, ended_at: string | null) => ({
  ...{ provider_id: 1, server_id: 1, started_at: "2026-01-01", ended_at, updated_at },
});
const at = (time: string) => `2026-01-20 ${time}:00.000`;

it("providers without rows have none, with and without a rollup", async () => {
  expect(await news()).toEqual([]);
  expect(await news(true)).toEqual(["1"]);
});

describe("a charge recorded", () => {
  it.each([
    ["at the watermark is covered", at("12:00"), []],
    ["after it is news", at("12:01"), ["1"]],
    ["at the next watermark is news", at("12:45"), ["1"]],
    ["within the margin is none yet", at("12:46"), []],
  ])("%s", async (_, recordedAt, expected) => {
    await database.knex("charges").insert(charge("2026-01-01", recordedAt));
    expect(await news()).toEqual(expected);
  });

  it("within the margin does not hide an earlier one", async () => {
    for (const recordedAt of [at("12:30"), at("12:50"), at("12:59")]) {
      await database.knex("charges").insert(charge("2026-01-01", recordedAt));
    }
    expect(await news()).toEqual(["1"]);
  });

  it.each([
    ["more than 250 that become covered are many", 251, "12:30", true],
    ["up to 250 are not", 250, "12:30", false],
    ["those that are covered do not count", 251, "12:00", false],
    ["those within the margin do not count", 251, "12:46", false],
  ])("%s", async (_, count, time, manyCharges) => {
    const row = charge("2026-01-01", at(time));
    await database
      .knex("charges")
      .insert([
        charge("2026-01-01", at("12:01")),
        ...Array.from({ length: time === "12:30" ? count - 1 : count }, () => row),
      ]);
    expect(await findNews(database.knex, ["1"], CLOCK, { all: false })).toMatchObject([
      { manyCharges },
    ]);
  });

  it("for a provider without a rollup is news, however old", async () => {
    await database
      .knex("charges")
      .insert({ ...charge("2020-01-01", "2020-01-01"), provider_id: 2 });
    expect(await news()).toEqual(["2"]);
  });
});

describe("a rental", () => {
  it.each([
    ["that was written and ended before the watermark is covered", at("11:00"), at("11:00"), []],
    ["that was written since is news", at("12:30"), at("11:00"), ["1"]],
    ["that ended since is news", at("11:00"), at("12:30"), ["1"]],
    ["that is open is none", at("12:30"), null, []],
    ["that ends later is none yet", at("12:30"), at("12:50"), []],
  ])("%s", async (_, updatedAt, endedAt, expected) => {
    await database.knex("rentals").insert(rental(updatedAt, endedAt));
    expect(await news()).toEqual(expected);
  });
});

it.each([
  ["a build in progress", { build_generation: 2, build_cut: CUT }],
  ["a watermark in the future", { cut: "2026-01-20 13:00:00.001" }],
])("%s is news", async (_, columns) => {
  await database.knex("rollups").update(columns);
  expect(await news()).toEqual(["1"]);
});

it("a provider without news keeps its watermark and its revision", async () => {
  await database
    .knex("charges")
    .insert([1, 2].map((id) => ({ ...charge("2026-01-01", CUT), provider_id: id })));
  await rollUp(database.knex, { margin: 0, rebuild: true });
  const state = (provider: number) =>
    database.knex("rollups").where({ provider_id: provider }).first("cut", "revision");
  const before = [await state(1), await state(2)];
  await database
    .knex("charges")
    .insert({ provider_id: 2, server_id: 1, charged_at: CUT, gross: 1 });
  await database.knex.raw("DO SLEEP(0.01)");
  expect(await rollUp(database.knex, { margin: 0 })).toMatchObject({ news: 1, charges: 1 });
  expect(await state(1)).toEqual(before[0]);
  const after = await state(2);
  expect(after.cut > before[1].cut && after.revision > before[1].revision).toBe(true);
});

it("costs three index entries for each provider, however many rows it has", async () => {
  await addBulk(database.knex, [
    { provider: 4, servers: 2, instances: 0, charges: 5_000, rentals: 500 },
  ]);
  await database.knex("rollups").insert({ provider_id: 4, generation: 1, cut: CLOCK.until });
  await database.knex.raw("ANALYZE TABLE charges, rentals, rollups, providers");
  const until = "9000-01-01 00:00:00.000";
  await database.knex("rollups").update({ cut: until });
  const read = () =>
    database.knex.transaction(async (session) => {
      const count = async () => {
        const [rows] = await session.raw("SHOW SESSION STATUS LIKE 'Handler_read%'");
        return rows.reduce((sum: number, row: { Value: string }) => sum + Number(row.Value), 0);
      };
      const before = await count();
      await findNews(
        session,
        ["1", "4"],
        { now: until, until, waitsFor: undefined },
        { all: false },
      );
      return (await count()) - before;
    });
  // Five providers and states, and a few entries; the counters themselves take some reads.
  expect(await read()).toBeLessThan(100);
});
