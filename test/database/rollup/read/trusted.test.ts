/** What an answer trusts of a rollup, and of the totals that it cached. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Knex } from "knex";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRead } from "../../../../src/db/query.ts";
import { createRevenueService } from "../../../../src/revenue/service.ts";
import type { UsedRollup } from "../../../../src/rollup/coverage.ts";
import { breakdownOf, overviewOf } from "../../../support/ledger/call.ts";
import { charge, createCachingFixture, minute, moveCheckpoints, NOW, rollUpTo } from "./caching.ts";

const fixture = createCachingFixture();
const FUTURE = "9000-01-01 00:00:00.000";
const YEAR = ["2026-01-01", "2026-12-31"] as const;
/** Both edges lie between checkpoints. */
const INSIDE = ["2026-03-02", "2026-11-20"] as const;

const insert = (...charges: ReturnType<typeof charge>[]) =>
  fixture.database.knex("charges").insert(charges);
const rollups = () => fixture.database.knex("rollups").where({ provider_id: 1 });

describe("a watermark that lies ahead of the database's clock", () => {
  const calls = () => [fixture.service.overview(), fixture.service.breakdown(YEAR)];
  const gross = async () => (await Promise.all(calls())).map(({ gross }) => gross);

  it("is not trusted: everything is read raw", async () => {
    await rollUpTo(fixture.database.knex, 2);
    expect(await gross()).toEqual(["100.00", "100.00"]);
    await rollups().update({ cut: FUTURE });
    await insert(charge("2026-03-05 00:00:00.000", "5.00"));
    expect(await gross()).toEqual(["105.00", "105.00"]);
    await insert(charge("2026-03-06 00:00:00.000", "1.00"));
    expect(await gross()).toEqual(["106.00", "106.00"]); // with cached totals
  });

  it("is trusted again as soon as the clock has passed it", async () => {
    const knex = fixture.database.knex;
    await rollUpTo(knex, 2);
    await rollups().update({ cut: knex.raw("UTC_TIMESTAMP(3) + INTERVAL 1 SECOND") });
    const [full, uncovered] = [["breakdownCheckpoints", "fullBreakdown"], ["uncoveredBreakdown"]];
    expect((await fixture.service.breakdown(YEAR)).statements).toEqual(full);
    expect((await fixture.service.breakdown(YEAR)).statements).toEqual(uncovered);
    await sleep(1_050);
    for (const statements of [[...uncovered, ...full], uncovered]) {
      expect((await fixture.service.breakdown(YEAR)).statements).toEqual(statements);
    }
  });

  it("is reported, with the charges that were read raw because of it", async () => {
    const reports: [UsedRollup, number][] = [];
    const service = createRevenueService(createRead(fixture.database.knex), {
      reportLag: (_provider, rollup, _now, uncovered) => void reports.push([rollup, uncovered]),
    });
    const call = async () => {
      await overviewOf(service, 1n, NOW);
      await breakdownOf(service, 1n, NOW, ...YEAR);
    };
    const none = { generation: "0", watermark: "1000-01-01 00:00:00.000", revision: "0" };
    const built = {
      generation: "1",
      watermark: minute(2),
      revision: expect.stringMatching(/^\d+$/),
    };
    await call();
    await rollUpTo(fixture.database.knex, 2);
    await insert(charge("2026-03-05 00:00:00.000", "5.00"));
    await call();
    await rollups().update({ cut: FUTURE });
    await call();
    expect(reports).toEqual([
      [{ ...none, ahead: "" }, 4],
      [{ ...none, ahead: "" }, 3],
      [{ ...built, ahead: "" }, 1],
      [{ ...built, ahead: "" }, 1],
      [{ ...none, ahead: FUTURE }, 5],
      [{ ...none, ahead: FUTURE }, 4],
    ]);
  });
});

describe("totals that changed under the same watermark", () => {
  it("are not used: the revision tells", async () => {
    await rollUpTo(fixture.database.knex, 2);
    await fixture.service.breakdown(YEAR);
    await fixture.service.overview();
    await insert(charge("2026-03-05 00:00:00.000", "5.00", { recorded: 2 })); // late
    await fixture.database.knex("rollup_figures").where({ provider_id: 1 }).increment("gross", 5);
    await fixture.database
      .knex("rollup_months")
      .where({ provider_id: 1, month: 202603 })
      .increment("gross", 5);
    await rollups().increment("revision");
    expect((await fixture.service.overview()).statements).toEqual([
      "uncoveredOverview",
      "fullOverview",
    ]);
    expect((await fixture.service.breakdown(YEAR)).statements).toEqual([
      "uncoveredBreakdown",
      "fullBreakdown",
    ]);
  });
});

describe("in one snapshot, answers with and without cached totals are equal", () => {
  let reader: Knex.Transaction;
  const early = { recorded: 1 };
  beforeEach(async () => {
    await insert(
      charge("2026-03-01 12:00:00.000", "1.00", early),
      charge("2026-03-01 13:00:00.000", "2.00", early),
      charge("2026-11-20 00:00:00.000", "4.00", early),
    );
    await fixture.database.knex("rentals").insert([
      { ...rental, started_at: "2026-02-10", ended_at: "2026-03-01 06:00:00.000" },
      { ...rental, started_at: "2026-11-19", ended_at: "2026-11-19 12:00:00.000" },
    ]);
    await rollUpTo(fixture.database.knex, 4);
    await moveCheckpoints(fixture.database.knex, ["2026-03-01", "2026-04-01", "2026-11-01"]);
  });
  afterEach(() => reader?.rollback());

  const rental = { provider_id: 1, server_id: 1, updated_at: minute(1) };

  it.each([
    [
      "a charge that commits late, at the start",
      () => insert(charge("2026-03-01 14:00:00.000", "8.00", early)),
    ],
    [
      "a charge that commits late, at the end",
      () => insert(charge("2026-11-20 01:00:00.000", "8.00", early)),
    ],
    [
      "two of them that add up to zero",
      () =>
        insert(
          charge("2026-11-20 01:00:00.000", "8.00", early),
          charge("2026-11-20 01:00:00.000", "-8.00", early),
        ),
    ],
    ["one dated after now", () => insert(charge("2026-11-25 00:00:00.000", "8.00", early))],
    [
      "a changed charge",
      () => fixture.database.knex("charges").where({ gross: "2.00" }).update({ gross: "9.00" }),
    ],
    ["a deleted charge", () => fixture.database.knex("charges").where({ gross: "4.00" }).del()],
    [
      "a rental that commits late",
      () =>
        fixture.database.knex("rentals").insert([
          { ...rental, started_at: "2026-11-19", ended_at: "2026-11-19 13:00:00.000" },
          { ...rental, started_at: "2026-02-10", ended_at: "2026-03-01 07:00:00.000" },
        ]),
    ],
    [
      "a rental that gets another end",
      () =>
        fixture.database
          .knex("rentals")
          .where({ started_at: "2026-11-19" })
          .update({ ended_at: "2026-11-21", updated_at: minute(5) }),
    ],
    [
      "a deleted rental",
      () => fixture.database.knex("rentals").where({ started_at: "2026-11-19" }).del(),
    ],
  ] as const)("also for %s", async (_, breakAssumption) => {
    const { knex } = fixture.database;
    const warm = createRevenueService(readIn(() => reader));
    const cold = () => createRevenueService(readIn(() => reader));
    const answers = async (service: ReturnType<typeof cold>) => [
      await overviewOf(service, 1n, NOW),
      await breakdownOf(service, 1n, NOW, ...INSIDE),
      await breakdownOf(service, 1n, NOW, "2026-03-03", "2026-11-20"),
    ];
    reader = await knex.transaction();
    const before = await answers(warm);
    expect(before).toEqual(await answers(cold()));
    await reader.rollback();
    await breakAssumption();
    reader = await knex.transaction();
    expect(await answers(warm)).toEqual(await answers(cold()));
  });
});

/** A `Read` in a transaction, and so in its snapshot. */
function readIn(transaction: () => Knex.Transaction): Parameters<typeof createRevenueService>[0] {
  return async (sql, bindings) => {
    const [rows] = await transaction()
      .raw(sql, bindings as Knex.RawBinding[])
      .options({ rowsAsArray: true });
    return rows;
  };
}
