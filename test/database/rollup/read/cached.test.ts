/** What is remembered of a rollup saves asking for it, and never changes an answer. */
import { describe, expect, it } from "vitest";
import { beginBuild, buildSegment } from "../../../../src/rollup/write/build.ts";
import { advanceTo, charge, createCachingFixture, minute, rollUpTo } from "./caching.ts";

const fixture = createCachingFixture();

const insert = (...charges: ReturnType<typeof charge>[]) =>
  fixture.database.knex("charges").insert(charges);
const YEAR = ["2026-01-01", "2026-12-31"] as const;

describe.each([
  {
    rpc: "an overview",
    ask: (provider = 1n) => fixture.service.overview({ provider }),
    whole: "fullOverview",
    beside: "uncoveredOverview",
  },
  {
    rpc: "a breakdown",
    ask: (provider = 1n) => fixture.service.breakdown(YEAR, { provider }),
    whole: "fullBreakdown",
    beside: "uncoveredBreakdown",
  },
] as const)("of $rpc", ({ rpc, ask, whole, beside }) => {
  it.each([
    ["with a rollup", [1, 2]],
    ["with a rollup of another provider alone", [2]],
    ["without a rollup", []],
  ])("%s the whole is asked for once, then what is beside the rollup", async (_, providers) => {
    for (const provider of providers) await rollUpTo(fixture.database.knex, 2, String(provider));
    expect(await ask()).toEqual({ gross: "100.00", asked: [whole] });
    expect(await ask()).toEqual({ gross: "100.00", asked: [beside] });
    expect(await ask()).toEqual({ gross: "100.00", asked: [beside] });
  });

  it("what was recorded after the watermark is in the answer, whenever it is dated", async () => {
    await rollUpTo(fixture.database.knex, 2);
    await ask();
    let gross = 100;
    for (const [at, amount] of [
      ["2026-11-20 09:30:00.000", 1],
      ["2026-11-01 00:00:00.000", 2],
      ["2026-02-28 12:00:00.000", 4], // backdated into a segment that had nothing
      ["2026-11-10 00:00:00.000", -50], // a refund
      ["2026-01-01 00:00:00.000", 0.01],
    ] as const) {
      await insert(charge(at, String(amount)));
      gross += amount;
      expect(await ask(), at).toEqual({ gross: gross.toFixed(2), asked: [beside] });
    }
    await insert(charge("2025-12-31 23:59:59.999", "1000.00")); // of another year
    expect(await ask()).toEqual({ gross: gross.toFixed(2), asked: [beside] });
  });

  it("a deleted server appears with its first charge", async () => {
    await rollUpTo(fixture.database.knex, 2);
    await ask();
    await insert(charge("2026-11-11 00:00:00.000", "5.00", { server: 2 }));
    expect(await ask()).toEqual({ gross: "105.00", asked: [beside] });
  });

  it("once the rollup has advanced, the whole is asked for again, once", async () => {
    await rollUpTo(fixture.database.knex, 2);
    await ask();
    await insert(charge("2026-03-05 00:00:00.000", "5.00"));
    await advanceTo(fixture.database.knex, 6);
    expect(await ask()).toEqual({ gross: "105.00", asked: [beside, whole] });
    expect(await ask()).toEqual({ gross: "105.00", asked: [beside] });
    await advanceTo(fixture.database.knex, 7); // over nothing
    expect(await ask()).toEqual({ gross: "105.00", asked: [beside, whole] });
    expect(await ask()).toEqual({ gross: "105.00", asked: [beside] });
  });

  it("once it was built anew, too, even up to the same watermark", async () => {
    await rollUpTo(fixture.database.knex, 6);
    await ask();
    await insert(charge("2026-03-05 00:00:00.000", "5.00")); // committed later than the margin
    await rollUpTo(fixture.database.knex, 6);
    expect(await ask()).toEqual({ gross: "105.00", asked: [beside, whole] });
    expect(await ask()).toEqual({ gross: "105.00", asked: [beside] });
  });

  it("a build beside the rollup that is read changes nothing before it is through", async () => {
    await rollUpTo(fixture.database.knex, 2);
    await ask();
    await insert(charge("2026-03-05 00:00:00.000", "5.00"));
    const begun = await beginBuild(fixture.database.knex, "1", minute(6));
    await buildSegment(fixture.database.knex, begun, 1);
    expect(await ask()).toEqual({ gross: "105.00", asked: [beside] });
  });

  it("the first rollup of a provider is used as soon as it is there", async () => {
    await ask();
    await rollUpTo(fixture.database.knex, 2);
    expect(await ask()).toEqual({ gross: "100.00", asked: [beside, whole] });
    expect(await ask()).toEqual({ gross: "100.00", asked: [beside] });
  });

  it("where the rollup is gone, nothing of it is left in the answer", async () => {
    await rollUpTo(fixture.database.knex, 2);
    await ask();
    await insert(charge("2026-03-05 00:00:00.000", "5.00"));
    await fixture.database.knex("rollups").del();
    expect(await ask()).toEqual({ gross: "105.00", asked: [beside, whole] });
    expect(await ask()).toEqual({ gross: "105.00", asked: [beside] });
  });

  it("no provider ever gets another's part, although their rollups are in the same state", async () => {
    for (const provider of ["1", "2"]) await rollUpTo(fixture.database.knex, 2, provider);
    for (const asked of [[whole], [beside], [beside]]) {
      expect(await ask(1n)).toEqual({ gross: "100.00", asked });
      expect(await ask(2n)).toEqual({ gross: "3.00", asked });
    }
    await advanceTo(fixture.database.knex, 6);
    expect(await ask(2n), rpc).toEqual({ gross: "3.00", asked: [beside] });
    expect(await ask(1n), rpc).toEqual({ gross: "100.00", asked: [beside, whole] });
  });
});
