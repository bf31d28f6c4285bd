/** Which providers get a rollup: those that are large enough for one, as soon as a run finds that they are. */
import { beforeEach, describe, expect, it } from "vitest";
import { fromDatetime, toDatetime } from "../../../../src/db/datetime.ts";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { beginBuild } from "../../../../src/rollup/write/build.ts";
import { findNews } from "../../../../src/rollup/write/run/news.ts";
import type { SmallProviders } from "../../../../src/rollup/write/run/size.ts";
import { rollUp } from "../../../../src/rollup/write/run.ts";
import { testPool } from "../../../support/database.ts";
import { databaseOfFile, LEDGER } from "../../file-database.ts";
import { charge, rental, rollupOf } from "../write/built.ts";
import { expectStored } from "../write/oracle.ts";

/** From so many rows on. */
const N = 5;
const RECORDED = "2026-01-20 12:00:00.000";
const LATER = "2026-01-20 12:30:00.000";
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const database = await databaseOfFile(["providers", ...LEDGER]);
const { knex } = database;
beforeEach(async () => {
  await knex("providers").insert([1, 2].map((id) => ({ id, name: "provider" })));
});

const times = <Row>(count: number, row: Row): Row[] => Array(count).fill(row);
const addCharges = (count: number, recorded = RECORDED, charged = "2026-01-01") =>
  knex("charges").insert(times(count, charge(charged, recorded)));
const addRentals = (count: number, recorded = RECORDED) =>
  knex("rentals").insert(times(count, rental("2026-01-01", "2026-01-02", recorded)));
const run = () => rollUp(knex, { margin: 0, minRows: N });
const isBuilt = async () => (await rollupOf(knex, "1")) !== undefined;

describe("a provider with", () => {
  it.each([
    [N - 1, "charges", false],
    [N, "charges", true],
    [N + 1, "charges", true],
    [N - 1, "rentals", false],
    [N, "rentals", true],
    [N + 1, "rentals", true],
  ] as const)("%i %s: %s", async (count, table, expected) => {
    await (table === "charges" ? addCharges(count) : addRentals(count));
    expect(await run()).toMatchObject({ news: Number(expected), small: Number(!expected) });
    expect(await isBuilt()).toBe(expected);
    if (expected) await expectStored(knex, "1");
  });

  it("a few of each has none, however many they are together", async () => {
    await addCharges(N - 1);
    await addRentals(N - 1);
    await run();
    expect(await isBuilt()).toBe(false);
  });

  it("rows that are recorded in the future has none until their time has come", async () => {
    await addCharges(N - 1);
    await addCharges(N, "9000-01-01");
    await addRentals(N, "9000-01-01");
    await run();
    expect(await isBuilt()).toBe(false);
    await addCharges(1);
    await run();
    expect(await isBuilt()).toBe(true);
  });

  it("charges that are dated ahead has one: their time comes", async () => {
    await addCharges(1);
    await addCharges(N - 1, RECORDED, "9000-01-01");
    await run();
    expect(await isBuilt()).toBe(true);
  });
});

it("a small provider keeps the rollup that it has, up to date and exact, and gets it again", async () => {
  await addCharges(1);
  await rollUp(knex, { margin: 0, minRows: 1 });
  await addCharges(1, LATER);
  await knex(TABLES.rollups).update({ watermark: RECORDED });
  expect(await run()).toMatchObject({ news: 1, charges: 1, small: 0 });
  const { version } = (await rollupOf(knex, "1")) ?? {};
  expect(await rollUp(knex, { margin: 0, minRows: N, rebuild: true })).toMatchObject({
    charges: 2,
  });
  expect(await rollupOf(knex, "1")).not.toMatchObject({ version });
  await expectStored(knex, "1");
});

it("a rebuild builds rollups again, and none that there is not", async () => {
  await addCharges(N - 1);
  expect(await rollUp(knex, { margin: 0, minRows: N, rebuild: true })).toMatchObject({ news: 0 });
  expect(await isBuilt()).toBe(false);
});

it("a build that was begun goes on, whatever the size", async () => {
  await addCharges(1);
  await beginBuild(knex, "1", LATER, undefined, false);
  expect(await run()).toMatchObject({ news: 1, charges: 1 });
  expect(await isBuilt()).toBe(true);
});

it("a provider that grows during a run gets its rollup in the next one, and two runs at once build it once", async () => {
  await addCharges(N - 1);
  await addCharges(1, toDatetime(Date.now() - HOUR));
  const running = rollUp(knex, { margin: 2 * HOUR, minRows: N });
  await addCharges(1, toDatetime(Date.now() - HOUR));
  await running;
  expect(await isBuilt()).toBe(false);
  const both = await Promise.all([run(), run()]);
  const charges = both.reduce((sum, result) => sum + result.charges, 0);
  expect(charges).toBe(N + 1);
  await expectStored(knex, "1");
});

it("a run that ends between the count and the build leaves nothing that holds back the next one", async () => {
  await addCharges(N);
  const small: SmallProviders = new Map();
  const stopped = AbortSignal.abort();
  const options = { margin: 0, minRows: N, small };
  expect(await rollUp(knex, { ...options, signal: stopped })).toMatchObject({ behind: 1 });
  expect(await isBuilt()).toBe(false);
  expect(await rollUp(knex, options)).toMatchObject({ behind: 0 });
  expect(await isBuilt()).toBe(true);
});

it("a rollup that somebody has deleted is built again by the next run", async () => {
  await addCharges(N);
  const small: SmallProviders = new Map();
  const options = { margin: 0, minRows: N, small };
  await rollUp(knex, options);
  await knex(TABLES.rollups).del();
  expect(await rollUp(knex, options)).toMatchObject({ news: 1 });
  await expectStored(knex, "1");
});

describe("a provider that was found to be small", () => {
  const small: SmallProviders = new Map();
  beforeEach(async () => {
    small.clear();
    await addCharges(N - 1);
    await search(RECORDED);
    expect([...small]).toEqual([["1", RECORDED]]);
  });
  /** Searches at a watermark. Resolves to whether it has news. */
  const search = async (until: string, step = 0) =>
    (await findNews(knex, ["1", "2"], { until }, { all: false, small, step, minRows: N })).length >
    0;
  const later = (ms: number) => toDatetime(fromDatetime(RECORDED) + ms);

  it("is not counted again while nothing is recorded", async () => {
    await search(later(HOUR));
    expect(small.get("1")).toBe(RECORDED);
  });

  it("is counted again, and found, once a row is recorded", async () => {
    await addCharges(1, later(1));
    expect(await search(RECORDED)).toBe(false);
    expect(await search(later(1))).toBe(true);
    expect(small.size).toBe(0);
  });

  it("is counted again if the row leaves it small, and then not before the watermark can move by a step", async () => {
    await knex("charges").limit(1).del();
    await addCharges(1, later(1));
    expect(await search(later(2), 10)).toBe(false);
    expect(small.get("1")).toBe(RECORDED);
    await addCharges(1, later(3));
    expect(await search(later(9), 10)).toBe(false);
    expect(await search(later(10), 10)).toBe(true);
  });

  it("is counted again after a day: rows may have come late", async () => {
    await addCharges(1, "2025-01-01");
    expect(await search(later(DAY - 1))).toBe(false);
    expect(await search(later(DAY))).toBe(true);
  });

  it("is counted again if the clock was set back", async () => {
    await addCharges(1, "2025-01-01");
    await search(later(-1));
    expect(small.get("1")).toBe(later(-1));
  });
});

it("of ten thousand small providers, those are counted again in which something was recorded", async () => {
  const ids = Array.from({ length: 10_000 }, (_, n) => n + 1);
  await knex("providers").del();
  const providers = ids.map((id) => ({ id, name: "provider" }));
  await knex.batchInsert("providers", providers);
  const charges = ids.map((id) => ({ ...charge("2026-01-01", RECORDED), provider_id: id }));
  await knex.batchInsert("charges", charges);
  const small: SmallProviders = new Map();
  const counted = new Set<string>();
  const pool = testPool(database.url);
  pool.on("query", ({ sql, bindings }) => {
    const isId = (binding: string) => /^\d+$/.test(binding);
    if (sql.includes("OFFSET")) for (const id of bindings.flat().filter(isId)) counted.add(id);
  });
  const search = async (until: string) =>
    findNews(pool, ids.map(String), { until }, { all: false, small, minRows: N });
  try {
    expect(await search(RECORDED)).toEqual([]);
    expect(counted.size).toBe(ids.length);
    counted.clear();
    const grows = { ...charge("2026-01-01", LATER), provider_id: 9_999 };
    await knex("charges").insert([...times(N - 1, grows), { ...grows, provider_id: 7 }]);
    expect(await search(LATER)).toMatchObject([{ provider: "9999" }]);
    expect([...counted]).toEqual(["7", "9999"]);
  } finally {
    await pool.destroy();
  }
});
