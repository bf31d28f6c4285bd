/** Cached totals replace reads of the rollup, and never change a response. */
import { describe, expect, it } from "vitest";
import { beginBuild, buildSegment } from "../../../../src/rollup/write/build.ts";
import { charge, createCachingFixture, minute, refreshTo, rollUpTo } from "./caching.ts";

const fixture = createCachingFixture();

const insert = (...charges: ReturnType<typeof charge>[]) =>
  fixture.database.knex("charges").insert(charges);
const YEAR = ["2026-01-01", "2026-12-31"] as const;

describe.each([
  {
    rpc: "an overview",
    call: (provider = 1n) => fixture.service.overview({ provider }),
    first: ["fullOverview"],
    full: "fullOverview",
    uncovered: "uncoveredOverview",
  },
  {
    rpc: "a breakdown",
    call: (provider = 1n) => fixture.service.breakdown(YEAR, { provider }),
    first: ["breakdownCheckpoints", "fullBreakdown"],
    full: "fullBreakdown",
    uncovered: "uncoveredBreakdown",
  },
] as const)("$rpc", ({ rpc, call, first, full, uncovered }) => {
  it.each([
    ["with a rollup", [1, 2]],
    ["with a rollup of another provider only", [2]],
    ["without a rollup", []],
  ])("%s runs the full query once, then the uncovered query", async (_, providers) => {
    for (const provider of providers) await rollUpTo(fixture.database.knex, 2, String(provider));
    expect(await call()).toEqual({ gross: "100.00", statements: first });
    expect(await call()).toEqual({ gross: "100.00", statements: [uncovered] });
    expect(await call()).toEqual({ gross: "100.00", statements: [uncovered] });
  });

  it("counts what was recorded after the watermark, however it is dated", async () => {
    await rollUpTo(fixture.database.knex, 2);
    await call();
    let gross = 100;
    for (const [at, amount] of [
      ["2026-11-20 09:30:00.000", 1],
      ["2026-11-01 00:00:00.000", 2],
      ["2026-02-28 12:00:00.000", 4], // backdated into an empty segment
      ["2026-11-10 00:00:00.000", -50], // a refund
      ["2026-01-01 00:00:00.000", 0.01],
    ] as const) {
      await insert(charge(at, String(amount)));
      gross += amount;
      expect(await call(), at).toEqual({ gross: gross.toFixed(2), statements: [uncovered] });
    }
    await insert(charge("2025-12-31 23:59:59.999", "1000.00")); // of another year
    expect(await call()).toEqual({ gross: gross.toFixed(2), statements: [uncovered] });
  });

  it("shows a deleted server from its first charge on", async () => {
    await rollUpTo(fixture.database.knex, 2);
    await call();
    await insert(charge("2026-11-11 00:00:00.000", "5.00", { server: 2 }));
    expect(await call()).toEqual({ gross: "105.00", statements: [uncovered] });
  });

  it("runs the full query again, once, after a refresh", async () => {
    await rollUpTo(fixture.database.knex, 2);
    await call();
    await insert(charge("2026-03-05 00:00:00.000", "5.00"));
    await refreshTo(fixture.database.knex, 6);
    expect(await call()).toEqual({ gross: "105.00", statements: [uncovered, full] });
    expect(await call()).toEqual({ gross: "105.00", statements: [uncovered] });
    await refreshTo(fixture.database.knex, 7); // no new charges
    expect(await call()).toEqual({ gross: "105.00", statements: [uncovered, full] });
    expect(await call()).toEqual({ gross: "105.00", statements: [uncovered] });
  });

  it("runs the full query again after a rebuild, even up to the same watermark", async () => {
    await rollUpTo(fixture.database.knex, 6);
    await call();
    await insert(charge("2026-03-05 00:00:00.000", "5.00")); // committed later than the margin
    await rollUpTo(fixture.database.knex, 6);
    expect(await call()).toEqual({ gross: "105.00", statements: [uncovered, ...first] });
    expect(await call()).toEqual({ gross: "105.00", statements: [uncovered] });
  });

  it("keeps its cached totals while a build is in progress", async () => {
    await rollUpTo(fixture.database.knex, 2);
    await call();
    await insert(charge("2026-03-05 00:00:00.000", "5.00"));
    const begun = await beginBuild(fixture.database.knex, "1", minute(6));
    await buildSegment(fixture.database.knex, begun, 1);
    expect(await call()).toEqual({ gross: "105.00", statements: [uncovered] });
  });

  it("uses the first rollup of a provider as soon as it is built", async () => {
    await call();
    await rollUpTo(fixture.database.knex, 2);
    expect(await call()).toEqual({ gross: "100.00", statements: [uncovered, ...first] });
    expect(await call()).toEqual({ gross: "100.00", statements: [uncovered] });
  });

  it("runs the full query again after the rollup was deleted", async () => {
    await rollUpTo(fixture.database.knex, 2);
    await call();
    await insert(charge("2026-03-05 00:00:00.000", "5.00"));
    await fixture.database.knex("rollups").del();
    expect(await call()).toEqual({ gross: "105.00", statements: [uncovered, ...first] });
    expect(await call()).toEqual({ gross: "105.00", statements: [uncovered] });
  });

  it("never uses the totals of another provider, even if their rollups have the same state", async () => {
    for (const provider of ["1", "2"]) await rollUpTo(fixture.database.knex, 2, provider);
    for (const statements of [first, [uncovered], [uncovered]]) {
      expect(await call(1n)).toEqual({ gross: "100.00", statements });
      expect(await call(2n)).toEqual({ gross: "3.00", statements });
    }
    await refreshTo(fixture.database.knex, 6);
    expect(await call(2n), rpc).toEqual({ gross: "3.00", statements: [uncovered] });
    expect(await call(1n), rpc).toEqual({ gross: "100.00", statements: [uncovered, full] });
  });
});
