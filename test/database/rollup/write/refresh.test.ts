/** What a refresh adds to a rollup, and where it moves the watermark. */
import { beforeEach, expect, it } from "vitest";
import { toDatetime } from "../../../../src/db/datetime.ts";
import { refresh } from "../../../../src/rollup/write/refresh.ts";
import type { Repair } from "../../../../src/rollup/write/repair.ts";
import { databaseOfFile, LEDGER } from "../../file-database.ts";
import { build, charge, FIVE_MINUTES, rental, rollupOf } from "./built.ts";
import { expectStored } from "./oracle.ts";

const WATERMARK = "2026-01-20 12:00:00.000";
const NEXT = "2026-01-20 12:05:00.000";
const LATER = "2026-01-20 12:10:00.000";

const database = await databaseOfFile(LEDGER);
const { knex } = database;
beforeEach(async () => {
  await knex("charges").insert(charge("2025-10-01", "2025-10-01"));
  await build(knex, "1", WATERMARK);
});

/** Refreshes, and resolves to the number of charges added. The rollup is exact afterwards. */
async function refreshTo(until: string) {
  const repairs: Repair[] = [];
  const result = await refresh(knex, "1", until, { repaired: (repair) => repairs.push(repair) });
  await expectStored(knex);
  return { added: typeof result === "string" ? result : result.charges, repairs };
}
const adds = (added: number) => ({ added, repairs: [] });

it.each([
  ["recorded since", charge("2025-11-01", "2026-01-20 12:03:00.000"), 1, 0],
  ["recorded at the new watermark", charge("2025-11-01", NEXT), 1, 0],
  ["recorded after it", charge("2025-11-01", "2026-01-20 12:05:00.001"), 0, 1],
  ["dated ahead, and recorded before", charge("2026-01-20 12:03:00.000", "2025-12-01"), 1, 0],
  ["dated at the new watermark", charge(NEXT, "2025-12-01"), 1, 0],
  ["dated after it", charge("2026-01-20 12:05:00.001", "2025-12-01"), 0, 1],
])("a charge %s is added once, when the watermark passes it", async (_, row, now, then) => {
  await build(knex, "1", WATERMARK); // with it, if it counts already
  await knex("charges").insert(row);
  expect(await refreshTo(NEXT)).toEqual(adds(now));
  expect(await refreshTo(LATER)).toEqual(adds(then));
});

it("what commits late is added where another row of its hour is new", async () => {
  await knex("charges").insert([
    charge("2025-11-01 18:50:00.000", "2026-01-20 11:30:00.000"),
    charge("2025-11-01 18:00:00.000", NEXT),
  ]);
  const { added, repairs } = await refreshTo(NEXT);
  expect(added).toBe(2);
  expect(repairs).toMatchObject([{ cause: "late commit", charges: 1n }]);
});

it("rows of more hours than are compared alone are added to each", async () => {
  const at = (n: number) => toDatetime(Date.UTC(2025, 10, 1) + n * 7_200_000);
  await knex("charges").insert(Array.from({ length: 300 }, (_, n) => charge(at(n), NEXT)));
  expect(await refreshTo(NEXT)).toEqual(adds(300));
});

it("an ended rental that is written again is neither added nor reported again", async () => {
  await knex("rentals").insert(rental("2025-12-01", "2025-12-05", "2025-12-05"));
  await build(knex, "1", WATERMARK);
  await knex("rentals").update({ updated_at: "2026-01-20 12:03:00.000" });
  expect(await refreshTo(NEXT)).toEqual(adds(0));
});

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
const fiveMinutes = (n: number) => toDatetime(Date.UTC(2025, 10, 1) + n * 300_000);
const quarter = (n: number) => fiveMinutes(3 * n);

it("charges in very many new leaves, whose boundaries are too many rows, are a case for a build; those of many owners in one are not", async () => {
  const owners = numbers(1_000);
  const ofEach = (at: string, recorded: string) =>
    knex("charges").insert(owners.map((n) => charge(at, recorded, "1.00", n + 1)));
  await ofEach("2025-10-01", "2025-10-01");
  await build(knex, "1", WATERMARK, FIVE_MINUTES);
  await knex("charges").insert(numbers(501).map((n) => charge(fiveMinutes(n), NEXT)));
  expect(await refresh(knex, "1", NEXT)).toBe("too large");
  await knex("charges").where("charged_at", ">", fiveMinutes(4)).del();
  await ofEach(fiveMinutes(9), NEXT);
  expect(await refreshTo(NEXT)).toEqual(adds(1_005));
});

it("more than 1,000 leaves are a case for a build; as many are added in statements that stay small", async () => {
  await build(knex, "1", WATERMARK, "PT15M");
  await knex("charges").insert(numbers(1_001).map((n) => charge(quarter(n), NEXT)));
  expect(await refresh(knex, "1", NEXT)).toBe("too large");
  await knex("charges")
    .where({ charged_at: quarter(1_000) })
    .del();
  let longest = 0;
  const note = ({ sql }: { readonly sql: string }) => {
    longest = Math.max(longest, sql.length);
  };
  knex.on("query", note);
  expect(await refreshTo(NEXT)).toEqual(adds(1_000));
  knex.off("query", note);
  expect(longest).toBeLessThan(256 * 1_024);
  // Regression: a row of a late boundary was counted once for each difference before it.
  await knex("charges").insert(numbers(1_000).map((n) => charge(quarter(n), LATER, "-1.00")));
  expect(await refreshTo(LATER)).toEqual(adds(1_000));
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
