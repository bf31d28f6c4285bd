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

const boundaries = (total: number) =>
  knex(TABLES.sums).where({ total }).distinct("at").orderBy("at").pluck("at");

it.each([
  ["the date zero", "0000-00-00", "0001-01-02"],
  ["a month that does not exist", "2025-00-10", "2025-01-01"],
  ["a day that does not exist", "2025-03-00", "2025-03-01"],
  ["a 31st of February", "2025-02-31", "2025-03-01"],
])("rows of %s count in the leaf that they sort into", async (_, day, end) => {
  await insertInvalid([day], "2026-01-10");
  await build(knex, "1", "2026-01-20 00:00:00.000");
  await expectStored(knex);
  await insertInvalid([day], "2026-01-20 06:00:00.000");
  await refreshTo(knex, "1", "2026-01-20 12:00:00.000");
  await expectStored(knex);
  expect(await boundaries(0)).toEqual([`${end} 00:00:00.000`]);
});

// Regression: the engines count the days of such a date on into the next month, where real ones lie.
it("rows of a 30th of February are not taken for those of 2 March", async () => {
  await insertInvalid(["2025-02-30", "2025-03-02"], "2026-01-10");
  await build(knex, "1", "2026-01-20 00:00:00.000");
  await expectStored(knex);
  await insertInvalid(["2025-03-02", "2025-02-30"], "2026-01-20 06:00:00.000");
  await refreshTo(knex, "1", "2026-01-20 12:00:00.000");
  await expectStored(knex);
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
  const gross = {
    "2026-02-10": "1",
    "2026-02-30": "10",
    "2026-03-00": "100",
    "2026-03-05": "1000",
  };
  const recorded = "2026-04-01";
  await knex("charges").insert(
    Object.entries(gross).map(([day, amount]) => charge(day, recorded, `${amount}.00`)),
  );
  await knex("rentals").insert(rental("2026-02-30 05:00", "2026-03-00 07:00", recorded, 2));
  const [now, zone] = ["2026-11-20T09:30:00.000Z", "Asia/Kolkata"] as const;
  const answers = async () => {
    const service = createRevenueService(atTimeOfCall(createRead(knex)));
    const periods = [
      ["2026-02-01", "2026-02-28"],
      ["2026-03-01", "2026-03-31"],
      ["2026-02-01", "2026-03-31"],
    ] as const;
    const found: unknown[] = [await overviewOf(service, 1n, now)];
    for (const [start, end] of periods) {
      found.push(await breakdownOf(service, 1n, now, start, end));
      found.push(await dailyOf(service, 1n, now, start, end));
      found.push(await dailyOf(service, 1n, now, start, end, zone));
    }
    return found;
  };
  const raw = await answers();
  expect(raw.slice(1)).toMatchObject([
    { totalRevenue: { value: "111.00" }, totalRentals: 1 },
    { grossRevenue: { value: "111.00" } },
    // There the last hours of the month are those of March.
    { grossRevenue: { value: "1.00" } },
    { totalRevenue: { value: "1000.00" }, totalRentals: 0 },
    { grossRevenue: { value: "1000.00" } },
    { grossRevenue: { value: "1110.00" } },
    { totalRevenue: { value: "1111.00" }, totalRentals: 1 },
    { grossRevenue: { value: "1111.00" } },
    { grossRevenue: { value: "1111.00" } },
  ]);
  for (const leaf of [DAY, MONTH, FIVE_MINUTES]) {
    await build(knex, "1", "2026-11-20 09:00:00.000", leaf);
    expect(await answers(), leaf).toEqual(raw);
  }
});

// Regression: they were in nothing that an answer reads, neither covered nor dated after the watermark.
it("such dates right after a watermark that is the last instant of a month are uncovered", async () => {
  const [now, recorded] = ["2026-12-01T00:00:00.000Z", "2026-10-10"] as const;
  const days = ["2026-10-31", "2026-11-00", "2026-11-30", "2026-11-31"];
  await knex("charges").insert(days.map((day, nth) => charge(day, recorded, `${10 ** nth}.00`)));
  for (const watermark of ["2026-10-31 23:59:59.999", "2026-11-30 23:59:59.999"]) {
    await build(knex, "1", watermark);
    const service = createRevenueService(atTimeOfCall(createRead(knex)));
    const period = ["2026-10-01", "2026-12-01"] as const;
    expect(await breakdownOf(service, 1n, now, ...period)).toMatchObject({
      totalRevenue: { value: "1111.00" },
    });
    expect(await dailyOf(service, 1n, now, ...period)).toMatchObject({
      grossRevenue: { value: "1111.00" },
    });
    expect(await overviewOf(service, 1n, now)).toMatchObject({
      summary: { grossRevenueYTD: { value: "1111.00" } },
    });
  }
});

// Regression: the start by default was worked out twice, once without what is dated before it.
it.each(["UTC", "America/New_York", "Asia/Tokyo"])(
  "days in %s from the first instant on, by default or asked for, have the charges of the date zero",
  async (zone) => {
    await insertInvalid(["0000-00-00"], "2026-01-10");
    const now = "2026-11-20T09:30:00.000Z";
    for (const isBuilt of [false, true]) {
      if (isBuilt) await build(knex, "1", "2026-01-20 00:00:00.000", DAY);
      const service = createRevenueService(atTimeOfCall(createRead(knex)));
      for (const start of ["", "0001-01-01T00:00:00Z"]) {
        const answer = await dailyOf(service, 1n, now, start, "0001-01-15", zone);
        expect(answer, `${start} ${isBuilt}`).toMatchObject({ charges: 1 });
      }
    }
  },
);

const NO_DATES = ["2026-00-10 12:00:00.000", "2026-03-00 12:00:00.000", "0000-00-00 00:00:00.000"];

it("payouts with such a date are listed, after those with a later one", async () => {
  const payout = { provider_id: 1, amount: "1.00", method: "", status: "" };
  await knex("payouts").insert([
    { ...payout, public_id: "ok", paid_at: "2026-02-28" },
    ...NO_DATES.map((paid_at, nth) => ({ ...payout, public_id: `no date ${nth}`, paid_at })),
  ]);
  const service = createRevenueService(atTimeOfCall(createRead(knex)));
  expect(await overviewOf(service, 1n, "2026-11-20T09:30:00.000Z")).toMatchObject({
    recentPayouts: [
      { payoutId: "no date 1", date: "2026-02-28T23:59:59.999Z" },
      { payoutId: "ok", date: "2026-02-28T00:00:00Z" },
      { payoutId: "no date 0", date: "2025-12-31T23:59:59.999Z" },
      { payoutId: "no date 2", date: "0001-01-01T00:00:00Z" },
    ],
  });
});

/** Inserts a charge and a rental on each of some days. */
async function insertInvalid(days: readonly string[], recordedAt: string): Promise<void> {
  await knex("charges").insert(days.map((day) => charge(day, recordedAt)));
  await knex("rentals").insert(days.map((day) => rental(day, day, recordedAt, 2)));
}
