/** Rows with a date that does not exist, of writers that are not strict about dates. */
import { expect, it } from "vitest";
import { createRead } from "../../../../src/db/query.ts";
import { createRevenueService } from "../../../../src/revenue/service.ts";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { leafAt } from "../../../../src/rollup/leaves.ts";
import { newSpans } from "../../../../src/rollup/write/spans.ts";
import { type Rollup, readRollups } from "../../../../src/rollup/write/state.ts";
import { atTimeOfCall, breakdownOf, dailyOf, overviewOf } from "../../../support/ledger/call.ts";
import { databaseOfFile, LEDGER } from "../../file-database.ts";
import { build, charge, DAY, FIVE_MINUTES, MONTH, refreshTo, rental } from "./built.ts";
import { expectStored } from "./oracle.ts";

const database = await databaseOfFile(LEDGER);
const { knex } = database;

it.each([
  ["the date zero", ["0000-00-00"], "0001-01-02"],
  ["a month that does not exist", ["2025-00-10"], "2025-01-01"],
  ["a day that does not exist", ["2025-03-00"], "2025-03-01"],
  ["a 31st of February", ["2025-02-31"], "2025-03-01"],
  // Regression: the engines count the days of such a date on into the next month, where real ones lie.
  ["a 30th of February and 2 March", ["2025-03-02", "2025-02-30"], "2025-03-01", "2025-03-03"],
])("rows of %s count in the leaf that they sort into", async (_, days, ...ends) => {
  await insertInvalid(days, "2026-01-10");
  await build(knex, "1", "2026-01-20 00:00:00.000");
  await expectStored(knex);
  await insertInvalid(days, "2026-01-20 06:00:00.000");
  await refreshTo(knex, "1", "2026-01-20 12:00:00.000");
  await expectStored(knex);
  const boundaries = knex(TABLES.sums).where({ total: 0 }).distinct("at").orderBy("at");
  expect(await boundaries.pluck("at")).toEqual(ends.map((day) => `${day} 00:00:00.000`));
});

// Regression: the rows were taken for one stretch of two thousand years, with a leaf for each day.
it("a refresh compares only the leaves of such rows, and none in between", async () => {
  await build(knex, "1", "2026-01-20 00:00:00.000");
  await insertInvalid(["0000-00-00", "2025-00-10"], "2026-01-20 06:00:00.000");
  await knex.transaction(async (reader) => {
    const { current } = await readRollups(reader, "1");
    const spans = await newSpans(reader, current as Rollup, "2026-01-20 12:00:00.000");
    const leaves = spans.map(({ from, to }) => [leafAt(from, DAY).to, leafAt(to, DAY).to]);
    for (const [first, last] of leaves) expect(last).toBe(first);
    expect(new Set(leaves.flat()).size).toBe(2);
  });
});

it("such a date counts in the month that it sorts into, with a rollup and without", async () => {
  const days = ["2026-02-10", "2026-02-30", "2026-03-00", "2026-03-05"];
  const recorded = "2026-04-01";
  await knex("charges").insert(days.map((day, nth) => charge(day, recorded, `${10 ** nth}.00`)));
  await knex("rentals").insert(rental("2026-02-30 05:00", "2026-03-00 07:00", recorded, 2));
  const now = "2026-11-20T09:30:00.000Z";
  let raw: unknown;
  for (const leaf of [undefined, DAY, MONTH, FIVE_MINUTES]) {
    if (leaf !== undefined) await build(knex, "1", "2026-11-20 09:00:00.000", leaf);
    const service = createRevenueService(atTimeOfCall(createRead(knex)));
    // In Kolkata, the last hours of February are those of March.
    for (const [start, end, gross, ofKolkata, rentals] of [
      ["2026-02-01", "2026-02-28", "111.00", "1.00", 1],
      ["2026-03-01", "2026-03-31", "1000.00", "1110.00", 0],
      ["2026-02-01", "2026-03-31", "1111.00", "1111.00", 1],
    ] as const) {
      const call = [service, 1n, now, start, end] as const;
      const totals = { totalRevenue: { value: gross }, totalRentals: rentals };
      expect(await breakdownOf(...call), leaf).toMatchObject(totals);
      expect(await dailyOf(...call), leaf).toMatchObject({ grossRevenue: { value: gross } });
      const inKolkata = await dailyOf(...call, "Asia/Kolkata");
      expect(inKolkata, leaf).toMatchObject({ grossRevenue: { value: ofKolkata } });
    }
    const overview = await overviewOf(service, 1n, now);
    expect(overview, leaf).toMatchObject({ summary: { grossRevenueYTD: { value: "1111.00" } } });
    raw ??= overview;
    expect(overview, leaf).toEqual(raw);
  }
});

/** Inserts a charge and a rental on each of some days. */
async function insertInvalid(days: readonly string[], recordedAt: string): Promise<void> {
  await knex("charges").insert(days.map((day) => charge(day, recordedAt)));
  await knex("rentals").insert(days.map((day) => rental(day, day, recordedAt, 2)));
}
