/** Cached sums are used while the rollup keeps its version, and never change an answer. */
import { describe, expect, it } from "vitest";
import { createRead, type Read } from "../../../../src/db/query.ts";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import type { LeafLength } from "../../../../src/rollup/leaves.ts";
import { buildStep } from "../../../../src/rollup/write/build.ts";
import { checkSlice } from "../../../../src/rollup/write/check.ts";
import { deleteRows, ROLLUPS } from "../../file-database.ts";
import { begin, build, charge, DAY, FIVE_MINUTES, MONTH, refreshTo } from "../write/built.ts";
import { createComparedService, createSmallDatabase, minute, NOW } from "./compared.ts";

const knex = await createSmallDatabase();
const insert = (at: string, recordedAt: string) =>
  knex("charges").insert(charge(at, recordedAt, "5.00"));
const MARCH = "2026-03-05 12:00:00.000";

const YEAR = ["2026-01-01T00:00:00.000Z", "2026-12-31T23:59:59.999Z"] as const;
const UNCOVERED = ["uncoveredBreakdown"] as const;
const FULL = ["fullBreakdown"] as const;

describe.each([
  ["an overview", "overview", "uncoveredOverview", "fullOverview"],
  ["a breakdown", "breakdown", "uncoveredBreakdown", "fullBreakdown"],
] as const)("%s", (_name, rpc, uncovered, full) => {
  const createCalls = () => {
    const service = createComparedService(knex);
    return () => (rpc === "overview" ? service.overview() : service.breakdown(YEAR));
  };

  it("runs the full query once, then the one that completes it; without a rollup, always the full one", async () => {
    const call = createCalls();
    for (const statement of [full, full]) expect(await call()).toEqual([statement]);
    await build(knex, "1", minute(2));
    for (const statement of [full, uncovered, uncovered]) expect(await call()).toEqual([statement]);
    await deleteRows(knex, ROLLUPS);
    expect(await call()).toEqual([uncovered, full]);
    for (const statement of [full, full]) expect(await call()).toEqual([statement]);
  });

  it("keeps its cached sums while charges of any date are recorded, a new rollup is being built, and another provider's changes", async () => {
    await build(knex, "1", minute(2));
    const call = createCalls();
    await call();
    await insert(MARCH, minute(5));
    await insert("2026-11-20 09:30:00.001", minute(5)); // after now
    await begin(knex, "1", minute(6), DAY);
    await buildStep(knex, "1", minute(6));
    await build(knex, "2", minute(6));
    expect(await call()).toEqual([uncovered]);
  });

  it("reads the sums again, once, after each change of its rollup", async () => {
    await build(knex, "1", minute(2));
    const call = createCalls();
    await call();
    await insert(MARCH, minute(5));
    for (const change of [
      () => refreshTo(knex, "1", minute(6)),
      async () => {
        await insert(MARCH, minute(1)); // committed late
        await checkSlice(knex, "1", { period: 1, repaired: () => {} });
      },
      () => build(knex, "1", minute(6), MONTH),
    ]) {
      await change();
      expect(await call(), `${change}`).toEqual([uncovered, full]);
      expect(await call(), `${change}`).toEqual([uncovered]);
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
    expect(await call()).toEqual([uncovered, full]);
    await insert("2026-03-05 13:00:00.000", minute(5));
    await refreshTo(knex, "1", minute(6)); // the watermark that was cached before
    expect(await call()).toEqual([uncovered, full]);
  });
});

// Boundaries are stored on 1 and 6 January, 6 March and 11 November.
it.each([
  [
    "from and to other instants between the same boundaries",
    "2026-01-06T00:00:00.001Z",
    "2026-11-10T23:59:59.998Z",
    UNCOVERED,
  ],
  [
    "that starts a millisecond after a boundary before",
    "2026-01-06T00:00:00.000Z",
    "2026-10-10T23:59:59.999Z",
    FULL,
  ],
  [
    "that ends where the next boundary is",
    "2026-02-10T00:00:00.000Z",
    "2026-11-10T23:59:59.999Z",
    FULL,
  ],
  ["up to now", "2026-02-10T00:00:00.000Z", NOW, FULL],
  ["without a boundary", "2026-03-06T00:00:00.001Z", "2026-11-10T23:59:59.998Z", UNCOVERED],
] as const)(
  "a period %s uses the sums at both its boundaries, or reads both",
  async (_, start, end, statements) => {
    await build(knex, "1", minute(2));
    const { breakdown } = createComparedService(knex);
    await breakdown(["2026-02-10T00:00:00.000Z", "2026-10-10T23:59:59.999Z"]);
    expect(await breakdown([start, end])).toEqual(statements);
    expect(await breakdown([start, end])).toEqual(UNCOVERED);
  },
);

it("a period by default uses cached sums until its start passes a boundary", async () => {
  await build(knex, "1", minute(2));
  const { breakdown } = createComparedService(knex);
  const at = (now: string) => breakdown(["", ""], now);
  expect(await at("2026-12-10T10:00:00.000Z")).toEqual(FULL); // from 10 November, 10:00
  expect(await at("2026-12-10T23:59:59.999Z")).toEqual(UNCOVERED);
  expect(await at("2026-12-11T00:00:00.000Z")).toEqual(UNCOVERED);
  expect(await at("2026-12-11T00:00:00.001Z")).toEqual(FULL);
});

it("a period whose start has passed a boundary by the database's clock alone is read again", async () => {
  await insert("2026-11-11 00:00:00.000", minute(1));
  await build(knex, "1", minute(2));
  const { breakdown } = createComparedService(knex, { hostIsAhead: -10 });
  expect(await breakdown(["", ""], "2026-12-10T23:59:59.999Z")).toEqual(FULL);
  const statements = [...UNCOVERED, ...FULL];
  expect(await breakdown(["", ""], "2026-12-11T00:00:00.001Z")).toEqual(statements);
});

it("a breakdown is exact if the rollup is built again with other leaves between its statements", async () => {
  await build(knex, "1", minute(2), DAY);
  const leaves: LeafLength[] = [];
  const plain = createRead(knex);
  const read: Read = async (...statement) => {
    const leaf = leaves.shift();
    if (leaf !== undefined) await build(knex, "1", minute(2), leaf);
    return plain(...statement);
  };
  const { breakdown } = createComparedService(knex, { read });
  await breakdown(["2026-03-04T12:00:00.000Z", NOW]);
  leaves.push(FIVE_MINUTES, MONTH);
  const statements = [...UNCOVERED, ...FULL];
  expect(await breakdown(["2026-03-04T12:00:00.000Z", NOW])).toEqual(statements);
});
