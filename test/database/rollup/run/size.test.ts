/** Which providers get a rollup: those that are large enough for one, as soon as a run finds that they are. */
import { beforeEach, describe, expect, it } from "vitest";
import { fromDatetime, toDatetime } from "../../../../src/db/datetime.ts";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { beginBuild } from "../../../../src/rollup/write/build.ts";
import { findNews, nothingCounted } from "../../../../src/rollup/write/run/news.ts";
import { rollUp } from "../../../../src/rollup/write/run.ts";
import { databaseOfFile, LEDGER } from "../../file-database.ts";
import { charge, rental, rollupOf } from "../write/built.ts";
import { expectStored } from "../write/oracle.ts";

/** From so many rows on. */
const N = 5;
const RECORDED = "2026-01-20 12:00:00.000";
const LATER = "2026-01-20 12:30:00.000";
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const { knex } = await databaseOfFile(["providers", ...LEDGER]);
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

it.each<[string, () => Promise<unknown>, boolean]>([
  ["one charge too few", () => addCharges(N - 1), false],
  ["enough charges", () => addCharges(N), true],
  ["one rental too few", () => addRentals(N - 1), false],
  ["enough rentals", () => addRentals(N), true],
  ["a few of each", () => Promise.all([addCharges(N - 1), addRentals(N - 1)]), false],
  ["enough that are recorded in the future", () => addCharges(N, "9000-01-01"), false],
  ["enough that are dated ahead", () => addCharges(N, RECORDED, "9000-01-01"), true],
])("a provider with %s", async (_, add, expected) => {
  await add();
  expect(await run()).toMatchObject({ news: Number(expected) });
  expect(await isBuilt()).toBe(expected);
  if (expected) await expectStored(knex);
});

it("a small provider keeps the rollup that it has, up to date and exact, and gets it again", async () => {
  await addCharges(1);
  await rollUp(knex, { margin: 0, minRows: 1 });
  await addCharges(1, LATER);
  await knex(TABLES.rollups).update({ watermark: RECORDED });
  expect(await run()).toMatchObject({ news: 1, charges: 1, small: 1 });
  const rebuilt = rollUp(knex, { margin: 0, minRows: N, rebuild: true });
  expect(await rebuilt).toMatchObject({ charges: 2 });
  await expectStored(knex);
});

it("a rebuild builds none that there is not, and a build that was begun goes on", async () => {
  await addCharges(1);
  const rebuilt = rollUp(knex, { margin: 0, minRows: N, rebuild: true });
  expect(await rebuilt).toMatchObject({ news: 0, checked: 0, checkAge: 0 });
  expect(await isBuilt()).toBe(false);
  await beginBuild(knex, "1", LATER, undefined, false);
  expect(await run()).toMatchObject({ news: 1, charges: 1 });
  expect(await isBuilt()).toBe(true);
});

it("a run that ends between the count and the build leaves nothing that holds back the next one", async () => {
  await addCharges(N);
  const stopped = AbortSignal.abort();
  const options = { margin: 0, minRows: N, counted: nothingCounted() };
  expect(await rollUp(knex, { ...options, signal: stopped })).toMatchObject({ behind: 1 });
  expect(await isBuilt()).toBe(false);
  expect(await rollUp(knex, options)).toMatchObject({ behind: 0 });
  expect(await isBuilt()).toBe(true);
});

it("a rollup that was lost is built anew, although nothing is recorded", async () => {
  await addCharges(N);
  const options = { margin: 0, minRows: N, counted: nothingCounted() };
  await rollUp(knex, options);
  expect(await rollUp(knex, options)).toMatchObject({ news: 0 });
  await knex(TABLES.rollups).delete();
  expect(await rollUp(knex, options)).toMatchObject({ news: 1, behind: 0 });
  await expectStored(knex);
});

describe("a provider that was found to be small", () => {
  let counted = nothingCounted();
  beforeEach(async () => {
    counted = nothingCounted();
    await addCharges(N - 1);
    expect(await search(RECORDED)).toBe(false);
    counted.upTo = RECORDED;
  });
  /** Searches at a watermark. Resolves to whether it has news. */
  const search = async (until: string) =>
    (await findNews(knex, ["1", "2"], { until }, { all: false, counted, minRows: N })).length > 0;
  const later = (ms: number) => toDatetime(fromDatetime(RECORDED) + ms);

  it("is not counted again while nothing is recorded", async () => {
    await addCharges(1, "2025-01-01");
    expect(await search(later(HOUR))).toBe(false);
  });

  it("is counted again, and found, once a row is recorded", async () => {
    await addCharges(1, later(1));
    expect(await search(RECORDED)).toBe(false);
    expect(await search(later(1))).toBe(true);
  });

  it("is counted again after a day: rows may have come late", async () => {
    await addCharges(1, "2025-01-01");
    expect(await search(later(DAY - 1))).toBe(false);
    expect(await search(later(DAY))).toBe(true);
  });

  it("is counted again if the clock was set back", async () => {
    await addCharges(N, "2025-01-01");
    expect(await search(later(-1))).toBe(true);
  });
});
