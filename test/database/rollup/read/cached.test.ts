/** Cached sums are used while the rollup keeps its version, and never change an answer. */
import { describe, expect, it } from "vitest";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { buildStep } from "../../../../src/rollup/write/build.ts";
import { checkSlice } from "../../../../src/rollup/write/check.ts";
import { deleteRows, ROLLUPS } from "../../file-database.ts";
import { begin, build, charge, DAY, MONTH, refreshTo } from "../write/built.ts";
import { createComparedService, createSmallDatabase, minute, NOW, YEAR } from "./compared.ts";

const knex = await createSmallDatabase();
const insert = (at: string, recordedAt: string) =>
  knex("charges").insert(charge(at, recordedAt, "5.00"));
const MARCH = "2026-03-05 12:00:00.000";
/** The statements of a breakdown that has the sums at its boundaries from the cache, and that reads them. */
const CACHED = ["facts", "cachedBreakdown"] as const;
const FULL = ["facts", "fullBreakdown"] as const;

describe.each([
  ["an overview", "overview", "cachedOverview", "fullOverview", "rawOverview"],
  ["a breakdown", "breakdown", "cachedBreakdown", "fullBreakdown", "rawBreakdown"],
] as const)("%s", (_name, rpc, cached, full, raw) => {
  const createCalls = () => {
    const service = createComparedService(knex);
    return () => (rpc === "overview" ? service.overview() : service.breakdown(YEAR));
  };

  it("reads the sums once, and again after each change of its rollup; without one, always the ledger", async () => {
    const call = createCalls();
    const late = async () => {
      await insert(MARCH, minute(1));
      await checkSlice(knex, "1", { period: 1 });
    };
    const others = async () => {
      await insert("2026-11-20 09:30:00.001", minute(7)); // after now
      await begin(knex, "1", minute(6), DAY);
      await buildStep(knex, "1", minute(6));
      await build(knex, "2", minute(6));
    };
    for (const [change, ...statements] of [
      [() => {}, raw, raw],
      [() => build(knex, "1", minute(2)), full, cached, cached],
      [() => insert(MARCH, minute(5)), cached],
      [() => refreshTo(knex, "1", minute(6)), full, cached],
      [late, full, cached],
      [others, cached],
      [() => build(knex, "1", minute(6), MONTH), full, cached],
      [() => deleteRows(knex, ROLLUPS), raw, raw],
    ] as const) {
      await change();
      for (const each of statements) expect(await call(), `${change}`).toEqual(["facts", each]);
    }
  });

  it("is right at once if the database is restored to an earlier state, and if its history goes on otherwise", async () => {
    const copied = ["charges", ...Object.values(TABLES)];
    await build(knex, "1", minute(2));
    for (const table of copied) {
      await knex.raw(`CREATE TABLE IF NOT EXISTS copy_of_${table} LIKE ${table}`);
      await knex(`copy_of_${table}`).del();
      await knex.raw(`INSERT INTO copy_of_${table} SELECT * FROM ${table}`);
    }
    const call = createCalls();
    await call();
    await insert(MARCH, minute(5));
    await refreshTo(knex, "1", minute(6));
    await call();
    for (const table of copied) {
      await knex(table).del();
      await knex.raw(`INSERT INTO ${table} SELECT * FROM copy_of_${table}`);
    }
    expect(await call()).toEqual(["facts", cached]); // the sums of this very version
    await insert("2026-03-05 13:00:00.000", minute(5));
    await refreshTo(knex, "1", minute(6)); // the watermark that was cached before
    expect(await call()).toEqual(["facts", full]);
  });
});

// The leaves are days.
it.each([
  ["to others between the same boundaries", "02-09T00:00:00.001Z", "10-11T23:59:59.998Z", CACHED],
  ["that starts a ms after a boundary", "02-10T00:00:00.001Z", "10-10T23:59:59.999Z", FULL],
  ["that ends on a day", "02-10T00:00:00.000Z", "10-10T23:59:59.998Z", FULL],
  ["up to now", "02-10T00:00:00.000Z", NOW.slice(5), FULL],
  ["within a day", "03-05T00:00:00.001Z", "03-05T23:59:59.998Z", FULL],
  ["of other days", "03-06T00:00:00.001Z", "11-10T23:59:59.998Z", FULL],
] as const)(
  "a period %s uses cached sums if both its boundaries are those of an earlier one",
  async (...row) => {
    const [, start, end, statements] = row;
    await build(knex, "1", minute(2), DAY);
    const { breakdown } = createComparedService(knex);
    await breakdown(["2026-02-10T00:00:00.000Z", "2026-10-11T12:00:00.000Z"]);
    for (const expected of [statements, CACHED]) {
      expect(await breakdown([`2026-${start}`, `2026-${end}`])).toEqual(expected);
    }
  },
);

it("a period by default uses cached sums until its start passes a boundary", async () => {
  await build(knex, "1", minute(2), DAY);
  const { breakdown } = createComparedService(knex);
  const at = (now: string) => breakdown(["", ""], now);
  expect(await at("2026-12-10T10:00:00.000Z")).toEqual(FULL); // from 10 November, 10:00
  for (const now of ["2026-12-10T23:59:59.999Z", "2026-12-11T00:00:00.000Z"]) {
    expect(await at(now)).toEqual(CACHED);
  }
  expect(await at("2026-12-11T00:00:00.001Z")).toEqual(FULL);
});
