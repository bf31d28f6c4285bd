/** The clock is the database's. A watermark that lies ahead of it cannot be true: answers read everything raw. */
import { expect, it } from "vitest";
import { createRead } from "../../../../src/db/query.ts";
import { createRevenueService } from "../../../../src/revenue/service.ts";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { atTimeOfCall, breakdownOf, overviewOf } from "../../../support/ledger/call.ts";
import { build, charge } from "../write/built.ts";
import { createComparedService, createSmallDatabase, minute, NOW, YEAR } from "./compared.ts";

const knex = await createSmallDatabase();
const NEXT = "2026-11-20T09:30:00.001Z";

it("a watermark ahead of the clock is used as soon as the clock has reached it", async () => {
  const { breakdown } = createComparedService(knex);
  await build(knex, "1", "2026-11-20 09:30:00.001");
  for (const [now, statement] of [
    [NOW, "rawBreakdown"],
    [NEXT, "fullBreakdown"],
    [NEXT, "cachedBreakdown"],
    [NOW, "rawBreakdown"], // the clock was set back
  ] as const) {
    expect(await breakdown(YEAR, now), now).toEqual(["facts", statement]);
  }
});

it("the months of an overview are those of its own instant, also if it lies before that of the cached sums", async () => {
  const { overview } = createComparedService(knex);
  await build(knex, "1", minute(2));
  // The second is on a node whose clock is behind, with December 2025; the third comes months later.
  const sent = [];
  for (const now of ["2026-12-01T00:00:00.010Z", "2026-11-30T23:59:59.990Z", "2027-02-01T00:00Z"]) {
    sent.push(...(await overview(new Date(now).toISOString())));
  }
  // Each is compared with the ledger. The sums of all months are read once.
  expect(sent.filter((name) => name !== "facts")).toEqual([
    "fullOverview",
    "cachedOverview",
    "cachedOverview",
  ]);
});

it("what answers used is reported: the rollup, and the charges that it does not cover", async () => {
  const uses: unknown[] = [];
  const service = createRevenueService(atTimeOfCall(createRead(knex)), {
    reportLag: (_provider, { facts, uncoveredCharges }) => {
      uses.push([facts.now === Date.parse(NOW), facts.rollup?.watermark, uncoveredCharges]);
    },
  });
  /** Of an overview, and of a breakdown of the year. */
  const reported = async () => {
    await overviewOf(service, 1n, NOW);
    await breakdownOf(service, 1n, NOW, ...YEAR);
    return uses.splice(0);
  };
  const raw = (...charges: number[]) => charges.map((count) => [true, undefined, count]);
  expect(await reported()).toEqual(raw(4, 3));
  await build(knex, "1", minute(2));
  await knex("charges").insert(charge("2026-03-05 12:00:00.000", minute(5), "5.00"));
  expect(await reported()).toEqual([1, 1].map((count) => [true, minute(2), count]));
  await knex(TABLES.rollups).update({ watermark: "2026-11-20 09:30:00.001" });
  expect(await reported()).toEqual(raw(5, 4));
});
