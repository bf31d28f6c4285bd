/** What a rollup has stored: exactly the sums of the rows that it covers, at the ends of its leaves. */
import type { Knex } from "knex";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { leafAt } from "../../../../src/rollup/leaves.ts";
import { newSpans } from "../../../../src/rollup/write/spans.ts";
import { type Rollup, readRollups } from "../../../../src/rollup/write/state.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { build, charge, DAY, MONTH, refreshTo, rental } from "./built.ts";
import { expectStored } from "./oracle.ts";

let database: TestDatabase;
let knex: Knex;
beforeAll(async () => {
  database = await createDatabase();
  knex = database.knex;
});
beforeEach(async () => {
  for (const table of ["charges", "rentals", ...Object.values(TABLES)]) await knex(table).del();
});
afterAll(() => database.drop());

const boundaries = (total: number) =>
  knex(TABLES.sums).where({ total }).distinct("at").orderBy("at").pluck("at");

it("a boundary is stored for each leaf that has a row, and for no other", async () => {
  const recorded = "2026-01-15 00:00:00.000";
  await knex("charges").insert([
    charge("2026-01-01 00:00:00.000", recorded),
    charge("2026-01-03 23:59:59.999", recorded),
    charge("2026-01-04 00:00:00.000", recorded),
  ]);
  await knex("rentals").insert(
    rental("2026-01-08 12:00:00.000", "2026-01-10 12:00:00.000", recorded),
  );
  await build(knex, "1", "2026-01-20 00:00:00.000", DAY, MONTH);
  const days = ["02", "04", "05", "09", "11"];
  expect(await boundaries(0)).toEqual(days.map((day) => `2026-01-${day} 00:00:00.000`));
  expect(await boundaries(1)).toEqual(["2026-02-01 00:00:00.000"]);
  await expectStored(knex);
});

it("an owner that appears late and at an early date is added to every later boundary", async () => {
  const days = ["2026-01-05", "2026-01-10", "2026-01-15"];
  await knex("charges").insert(days.map((day) => charge(day, "2026-01-16")));
  await build(knex, "1", "2026-01-20 00:00:00.000");
  await knex("charges").insert(charge("2026-01-07", "2026-01-20 06:00", "5.00", 2));
  await refreshTo(knex, "1", "2026-01-20 12:00:00.000");
  const late = await knex(TABLES.sums).where({ server_id: 2 }).orderBy("at").select("at", "gross");
  expect(late).toEqual(
    ["08", "11", "16"].map((day) => ({ at: `2026-01-${day} 00:00:00.000`, gross: "5.00" })),
  );
  await expectStored(knex);
});

it("a charge of instance 0 and one without an instance are of one owner, the server as a whole", async () => {
  await knex("charges").insert([
    { ...charge("2026-01-05", "2026-01-06", "1.00"), instance_id: 0 },
    { ...charge("2026-01-05", "2026-01-06", "2.00"), instance_id: null },
    { ...charge("2026-01-05", "2026-01-06", "4.00"), instance_id: 7 },
  ]);
  await build(knex, "1", "2026-01-20 00:00:00.000");
  const owners = await knex(TABLES.sums).where({ total: 0 }).orderBy("instance_id");
  expect(owners.map(({ instance_id, gross }) => [Number(instance_id), gross])).toEqual([
    [0, "3.00"],
    [7, "4.00"],
  ]);
});

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

// Regression: the rows were taken for one stretch of two thousand years, with a leaf for each day.
it("a refresh compares only the leaves of such rows, and none in between", async () => {
  await build(knex, "1", "2026-01-20 00:00:00.000");
  await insertInvalid(["0000-00-00", "2025-00-10"], "2026-01-20 06:00:00.000");
  await knex.transaction(async (reader) => {
    const { current } = await readRollups(reader, "1");
    const { covered } = await newSpans(reader, current as Rollup, "2026-01-20 12:00:00.000");
    const leaves = covered.map(({ from, to }) => [leafAt(from, DAY).to, leafAt(to, DAY).to]);
    for (const [first, last] of leaves) expect(last).toBe(first);
    expect(new Set(leaves.flat()).size).toBe(2);
  });
});

/** Inserts a charge and a rental on each of some days, of a writer that is not strict about dates. */
function insertInvalid(days: readonly string[], recordedAt: string) {
  return knex.transaction(async (writer) => {
    const [[{ mode }]] = await writer.raw("SELECT @@SESSION.sql_mode AS mode");
    await writer.raw("SET SESSION sql_mode = 'ALLOW_INVALID_DATES'");
    await writer("charges").insert(days.map((day) => charge(day, recordedAt)));
    await writer("rentals").insert(days.map((day) => rental(day, day, recordedAt, 2)));
    await writer.raw("SET SESSION sql_mode = ?", [mode]);
  });
}
