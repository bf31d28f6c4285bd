/** Refreshes: what histories of a few rows cannot show (read/any-history.test.ts). */
import { beforeEach, expect, it } from "vitest";
import { stretchAt } from "../../../../src/rollup/stretches.ts";
import { readFresh } from "../../../../src/rollup/write/fresh.ts";
import { refresh } from "../../../../src/rollup/write/refresh.ts";
import { type Rollup, readRollups } from "../../../../src/rollup/write/state.ts";
import { databaseOfFile, LEDGER } from "../../file-database.ts";
import { build, charge, DAY, rental, rollupOf } from "./built.ts";
import { expectStored } from "./oracle.ts";

const WATERMARK = "2026-01-20 12:00:00.000";
const NEXT = "2026-01-20 12:05:00.000";

const { knex } = await databaseOfFile(LEDGER);
beforeEach(async () => {
  await knex("charges").insert(charge("2025-10-01", "2025-10-01"));
  await build(knex, "1", WATERMARK);
});

/** Refreshes, and resolves to the number of charges added. The rollup is exact afterwards. */
async function refreshTo(until: string) {
  const { charges: added, repair } = await refresh(knex, "1", until);
  await expectStored(knex);
  return { added, repairs: repair ? [repair.what] : [] };
}
const adds = (added: number) => ({ added, repairs: [] });

it("what commits late is added where another row of its hour is new", async () => {
  await knex("charges").insert([
    charge("2025-11-01 18:50:00.000", "2026-01-20 11:30:00.000"),
    charge("2025-11-01 18:00:00.000", NEXT),
  ]);
  const { added, repairs } = await refreshTo(NEXT);
  expect(added).toBe(2);
  expect(repairs).toEqual([expect.stringContaining(" and 1 charges")]);
});

it("a rental that commits late is added, and reported, where another one of its leaf is new", async () => {
  await knex("rentals").insert([
    rental("2025-12-01", "2025-12-05", "2026-01-20 11:30:00.000"),
    rental("2025-12-01", "2025-12-05", NEXT),
  ]);
  const { repairs } = await refreshTo(NEXT);
  expect(repairs).toEqual([expect.stringContaining("repaired by 1 starts, 1 ends of rentals")]);
});

it("a charge that is replaced is taken off, and reported, and added again", async () => {
  await knex("charges").update({ recorded_at: NEXT });
  const { added, repairs } = await refreshTo(NEXT);
  expect(added).toBe(0);
  expect(repairs).toEqual([expect.stringContaining("repaired by -1.00 of gross and -1 charges")]);
});

it("an ended rental that is written again is neither added nor reported again", async () => {
  await knex("rentals").insert(rental("2025-12-01", "2025-12-05", "2025-12-05"));
  await build(knex, "1", WATERMARK);
  await knex("rentals").update({ updated_at: "2026-01-20 12:03:00.000" });
  expect(await refreshTo(NEXT)).toEqual(adds(0));
});

it("nor is it reported beside a charge that commits late", async () => {
  await knex("rentals").insert(rental("2025-12-01", "2025-12-05", "2025-12-05"));
  await build(knex, "1", WATERMARK);
  await knex("rentals").update({ updated_at: "2026-01-20 12:03:00.000" });
  await knex("charges").insert([
    charge("2025-11-01 18:50:00.000", "2026-01-20 11:30:00.000"),
    charge("2025-11-01 18:00:00.000", NEXT),
  ]);
  const { repairs } = await refreshTo(NEXT);
  expect(repairs).toEqual([expect.stringMatching(/repaired by 1\.00 of gross and 1 charges$/)]);
});

// Regression: rows of such dates were taken for one stretch of two thousand years, with a leaf for each day; and the
// engines count a 30th of February as 2 March.
it("of rows of dates that do not exist, only the leaves are compared, and none in between", async () => {
  const days = ["0000-00-00", "2025-00-10", "2025-02-30", "2025-03-02"];
  await knex("charges").insert(days.map((day) => charge(day, NEXT)));
  const fresh = await knex.transaction(async (reader) => {
    const { current } = await readRollups(reader, "1");
    return readFresh(reader, current as Rollup, NEXT);
  });
  const ends = fresh.map(({ at }) => stretchAt(at, DAY).to.slice(0, 10)).sort();
  expect(ends).toEqual(["0001-01-02", "2025-01-01", "2025-03-01", "2025-03-03"]);
  expect(await refreshTo(NEXT)).toEqual(adds(4));
});

it("the watermark never moves back", async () => {
  await refreshTo(NEXT);
  const before = await rollupOf(knex, "1");
  for (const until of [WATERMARK, NEXT]) expect(await refreshTo(until)).toEqual(adds(0));
  expect(await rollupOf(knex, "1")).toEqual(before);
});

it("of several refreshes at once, one adds a row, and the others write nothing", async () => {
  await knex("charges").insert(charge("2025-11-01", NEXT));
  const results = await Promise.all([1, 2, 3].map(() => refresh(knex, "1", NEXT)));
  const added = results.map((result) => (typeof result === "string" ? result : result.charges));
  expect(added.sort()).toEqual([0, 0, 1]);
  await expectStored(knex);
});
