/** The clock is the database's. A watermark that lies ahead of it cannot be true: answers read everything raw. */
import { describe, expect, it } from "vitest";
import { toDatetime } from "../../../../src/db/datetime.ts";
import { createRead } from "../../../../src/db/query.ts";
import { createRevenueService } from "../../../../src/revenue/service.ts";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import type { Use } from "../../../../src/rollup/read/lag-log.ts";
import { atTimeOfCall, breakdownOf, overviewOf } from "../../../support/ledger/call.ts";
import { build, charge, DAY, FIVE_MINUTES } from "../write/built.ts";
import { createComparedService, createSmallDatabase, minute, NOW } from "./compared.ts";

const knex = await createSmallDatabase();
const YEAR = ["2026-01-01T00:00:00.000Z", "2026-12-31T23:59:59.999Z"] as const;

it("a watermark ahead of the clock is used as soon as the clock has reached it", async () => {
  const { breakdown } = createComparedService(knex);
  await build(knex, "1", "2026-11-20 09:30:00.001");
  for (const [now, ...statements] of [
    [NOW, "facts", "rawBreakdown"],
    [NOW, "facts", "rawBreakdown"],
    ["2026-11-20T09:30:00.001Z", "facts", "fullBreakdown"],
    ["2026-11-20T09:30:00.001Z", "facts", "cachedBreakdown"],
    [NOW, "facts", "rawBreakdown"], // the clock was set back
  ] as const) {
    expect(await breakdown(YEAR, now), now).toEqual(statements);
  }
});

it("the months of an overview are those of its own instant, also if it lies before that of the cached sums", async () => {
  const { overview } = createComparedService(knex);
  await build(knex, "1", minute(2));
  for (const [now, ...statements] of [
    ["2026-12-01T00:00:00.010Z", "facts", "fullOverview"],
    ["2026-12-01T00:00:00.010Z", "facts", "cachedOverview"],
    // On a node whose clock is behind, with December 2025.
    ["2026-11-30T23:59:59.990Z", "facts", "fullOverview"],
    ["2026-11-30T23:59:59.990Z", "facts", "cachedOverview"],
    // Months later.
    ["2027-02-01T00:00:00.010Z", "facts", "fullOverview"],
    ["2027-02-01T00:00:00.010Z", "facts", "cachedOverview"],
  ] as const) {
    expect(await overview(now), now).toEqual(statements);
  }
});

it("what answers used is reported: the rollup, and the charges that it does not cover", async () => {
  const uses: Use[] = [];
  const service = createRevenueService(atTimeOfCall(createRead(knex)), {
    reportLag: (_provider, use) => void uses.push(use),
  });
  const report = async () => {
    await overviewOf(service, 1n, NOW);
    await breakdownOf(service, 1n, NOW, ...YEAR);
    return uses.splice(0).map(({ facts: { rollup, now }, uncoveredCharges }) => {
      expect(now).toBe(Date.parse(NOW));
      return [rollup?.watermark, uncoveredCharges];
    });
  };
  const none = undefined;
  expect(await report()).toEqual([
    [none, 4],
    [none, 3], // of the year
  ]);
  const ahead = toDatetime(Date.parse(NOW) + 1);
  await build(knex, "1", minute(2));
  await knex("charges").insert(charge("2026-03-05 12:00:00.000", minute(5), "5.00"));
  const built = minute(2);
  expect(await report()).toEqual([
    [built, 1],
    [built, 1],
  ]);
  await knex(TABLES.rollups).update({ watermark: ahead });
  expect(await report()).toEqual([
    [none, 5],
    [none, 4],
  ]);
});

describe.each([
  ["without a rollup", undefined],
  ["with leaves of five minutes", FIVE_MINUTES],
  ["with leaves of a day", DAY],
])("%s", (_, leaf) => {
  it("answers are exact around now, around the watermark and around the start of the default period", async () => {
    const days = ["2026-10-21", "2026-11-20"];
    const times = ["09:10", "09:25", "09:29:59.999", "09:30", "09:30:00.001", "09:35", "09:50"];
    const instants = days.flatMap((day) => times.map((time) => `${day} ${time}`));
    await knex("charges").insert(instants.map((at) => charge(at, minute(1))));
    if (leaf !== undefined) await build(knex, "1", "2026-11-20 09:15:00.000", leaf);
    const service = createComparedService(knex);
    for (const _ of ["first", "cached"]) {
      await service.overview();
      await service.breakdown(["", ""]);
      await service.breakdown(["2026-11-19T00:00:00.000Z", ""]);
      await service.breakdown(["", "2026-11-20T09:22:00.000Z"]);
    }
  });
});

it("the default period begins after a given end by the database's clock", async () => {
  const end = new Date(Date.parse(NOW) - 30 * 86_400_000 - 60_000).toISOString();
  await expect(createComparedService(knex).breakdown(["", end], NOW)).rejects.toThrow(
    "startDate: required because the default, 30 days before now (2026-10-21T09:30:00.000Z), is after endDate",
  );
});
