/** For which periods the cached totals of a breakdown are reused. */
import { beforeEach, describe, expect, it } from "vitest";
import { toDatetime } from "../../../../src/db/datetime.ts";
import { createRead } from "../../../../src/db/query.ts";
import { createRevenueService } from "../../../../src/revenue/service.ts";
import { MAX_LATEST } from "../../../../src/rollup/read/sql.ts";
import { TABLES } from "../../../../src/rollup/tables.ts";
import { breakdownOf } from "../../../support/ledger/call.ts";
import { charge, createCachingFixture, moveCheckpoints, NOW, rollUpTo } from "./caching.ts";

const fixture = createCachingFixture();

describe("a breakdown", () => {
  const FIRST = ["breakdownCheckpoints", "fullBreakdown"];
  const FULL = ["fullBreakdown"]; // the checkpoints are cached
  const UNCOVERED = ["uncoveredBreakdown"];
  beforeEach(async () => {
    await rollUpTo(fixture.database.knex, 2);
    const months = ["2026-01-01", "2026-02-01", "2026-04-01", "2026-12-01"];
    await moveCheckpoints(fixture.database.knex, months);
  });

  it.each([
    ["the same period", "2026-02-10", "2026-10-10", "20.00", UNCOVERED],
    [
      "one whose edges are the last instants of their segments",
      "2026-03-31T23:59:59.999Z",
      "2026-11-30",
      "70.00",
      UNCOVERED,
    ],
    [
      "one whose edges are instants of charges",
      "2026-03-05T00:00:00.001Z",
      "2026-11-10T00:00:00Z",
      "70.00",
      UNCOVERED,
    ],
    ["one that starts an instant earlier", "2026-02-09T23:59:59.999Z", "2026-10-10", "20.00", FULL],
    ["one that ends an instant earlier", "2026-02-10", "2026-10-10T23:59:59.998Z", "20.00", FULL],
    ["one that starts after the segment", "2026-04-01T00:00:00.001Z", "2026-10-10", "0.00", FULL],
    ["one that starts with the next segment", "2026-04-01", "2026-10-10", "0.00", UNCOVERED],
    ["one that ends before the segment", "2026-02-10", "2026-04-01T00:00:00.000Z", "20.00", FULL],
    ["one that ends where the other started", "2026-01-15", "2026-02-09", "0.00", FULL],
    ["one that ends in the segment of its start", "2026-02-10", "2026-03-31", "20.00", UNCOVERED],
    ["one that ends after the segment", "2026-02-10", "2026-12-01T00:00:00.000Z", "90.00", FULL],
    ["all of time", "0001-01-01", "9999-12-31", "107.00", FULL],
  ])("after one that spans several segments, %s", async (_, start, end, gross, statements) => {
    await fixture.service.breakdown(["2026-02-10", "2026-10-10"]);
    expect(await fixture.service.breakdown([start, end])).toEqual({ gross, statements });
    expect((await fixture.service.breakdown(["2026-02-10", "2026-10-10"])).statements).toEqual(
      UNCOVERED,
    );
  });

  it.each([
    ["one within a segment", "2026-04-02", "2026-11-30", "70.00"],
    ["one of an instant", "2026-03-05T00:00:00Z", "2026-03-05T00:00:00Z", "20.00"],
    ["one before every charge", "0001-01-01", "0001-01-01", "0.00"],
    ["one from before every charge", "0001-01-01", "2026-01-05T00:00:00Z", "17.00"],
    ["one after every charge", "2026-12-01", "9999-12-30", "0.00"],
    ["all of time", "0001-01-01", "9999-12-31", "107.00"],
  ])("%s is cached too", async (_, start, end, gross) => {
    for (const statements of [FIRST, UNCOVERED]) {
      expect(await fixture.service.breakdown([start, end])).toEqual({ gross, statements });
    }
  });

  it("asks for the checkpoints again if more of them are cached than the latest ones", async () => {
    const { knex } = fixture.database;
    const [{ generation }] = await knex(TABLES.checkpoints).where({ provider_id: 1 });
    const early = Array.from({ length: MAX_LATEST }, (_, day) => ({
      ...{ provider_id: 1, generation, gross: "0.00" },
      at: toDatetime(Date.UTC(2020, 0, 1 + day)),
    }));
    await knex.batchInsert(TABLES.checkpoints, early);
    for (const [start, end, statements] of [
      ["2020-01-02T12:00Z", "2026-02-10", FIRST],
      ["2020-01-03T12:00Z", "2026-02-11T12:00Z", FIRST],
      ["2021-01-02T12:00Z", "2026-03-10", FULL],
    ] as const) {
      expect((await fixture.service.breakdown([start, end])).statements).toEqual(statements);
    }
  });

  it("shares the cached sums at its edges with the periods before and after it", async () => {
    const months = [
      ["2026-03-01", "2026-03-31", "20.00", FIRST],
      ["2026-02-01", "2026-02-28", "0.00", FULL], // its end is cached
      ["2026-02-01", "2026-03-31", "20.00", UNCOVERED],
      ["2026-01-01", "2026-01-31", "10.00", FULL],
      ["2026-01-01", "2026-03-31", "30.00", UNCOVERED],
    ] as const;
    for (const [start, end, gross, statements] of months) {
      expect(await fixture.service.breakdown([start, end])).toEqual({ gross, statements });
    }
  });

  it("that ends before a checkpoint at the instant of a charge is cached too", async () => {
    await moveCheckpoints(fixture.database.knex, ["2026-01-05", "2026-03-05", "2026-11-10"]);
    for (const statements of [FIRST, UNCOVERED]) {
      const period = ["2026-01-05", "2026-02-01"] as const;
      expect(await fixture.service.breakdown(period)).toEqual({ gross: "10.00", statements });
    }
  });

  it("counts a charge dated at the last instant of all only if the period has it", async () => {
    const last = charge("9999-12-31 23:59:59.999", "1000.00", { recorded: 1 });
    await fixture.database.knex("charges").insert(last);
    await rollUpTo(fixture.database.knex, 2);
    for (const [end, gross] of [
      ["2026-12-31", "100.00"],
      ["9999-12-31T23:59:59.998Z", "100.00"],
      ["9999-12-31T23:59:59.999Z", "1100.00"],
    ] as const) {
      for (const _ of [FIRST, UNCOVERED]) {
        expect(await fixture.service.breakdown(["2026-01-01", end]), end).toMatchObject({ gross });
      }
    }
  });

  it("does not count a rental that starts after it, in the last instant of the segment", async () => {
    await fixture.database.knex("rentals").insert({
      ...{ provider_id: 1, server_id: 1, updated_at: "2026-11-20 08:01:00.000" },
      ...{ started_at: "2026-03-31 23:59:59.999", ended_at: "2026-04-02 00:00:00.000" },
    });
    await rollUpTo(fixture.database.knex, 2);
    await moveCheckpoints(fixture.database.knex, ["2026-02-01", "2026-04-01"]);
    for (const statements of [FIRST, UNCOVERED]) {
      const answer = await fixture.service.breakdown(["2026-02-10", "2026-03-30"]);
      expect(answer).toEqual({ gross: "20.00", statements }); // and compared without a cache
    }
    const service = createRevenueService(createRead(fixture.database.knex));
    const answer = await breakdownOf(service, 1n, NOW, "2026-02-10", "2026-03-30");
    expect(answer).toMatchObject({ totalRentals: 0 });
  });

  it("reuses its cached totals at any `now`: running rentals are queried in each call", async () => {
    const rental = { provider_id: 1, server_id: 1, updated_at: "2026-11-20 08:01:00.000" };
    await fixture.database.knex("rentals").insert([
      { ...rental, started_at: "2026-11-21 00:00:00.000", ended_at: "2026-11-22 00:00:00.000" },
      { ...rental, started_at: "2026-11-21 00:00:00.000" },
    ]);
    const period = ["2026-02-10", "2026-10-10"] as const;
    await fixture.service.breakdown(period);
    for (const now of ["2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z", "2025-01-01T00:00:00Z"]) {
      expect(await fixture.service.breakdown(period, { now })).toEqual({
        gross: "20.00",
        statements: UNCOVERED,
      });
    }
  });
});
