/** At which instants the cached totals of an overview are reused. */
import { describe, expect, it } from "vitest";
import { charge, createCachingFixture, rollUpTo } from "./caching.ts";

const fixture = createCachingFixture();

const insert = (...charges: ReturnType<typeof charge>[]) =>
  fixture.database.knex("charges").insert(charges);

describe("an overview", () => {
  const [FULL, UNCOVERED] = [["fullOverview"], ["uncoveredOverview"]];
  const at = (now: string) => fixture.service.overview({ now });

  it("reuses its totals at every later instant of the month", async () => {
    await rollUpTo(fixture.database.knex, 2);
    expect((await at("2026-11-20T09:30:00.000Z")).statements).toEqual(FULL);
    for (const now of ["2026-11-20T09:30:00.001Z", "2026-11-30T23:59:59.999Z"]) {
      expect(await at(now)).toEqual({ gross: "100.00", statements: UNCOVERED });
    }
  });

  it("reuses them at an earlier instant too: a charge may be dated between the two", async () => {
    await insert(charge("2026-11-20 09:30:00.000", "5.00"));
    await rollUpTo(fixture.database.knex, 6);
    for (const [now, gross, statements] of [
      ["2026-11-20T09:30:00.000Z", "105.00", FULL],
      ["2026-11-20T09:29:59.999Z", "100.00", UNCOVERED],
      ["2026-11-20T09:30:00.000Z", "105.00", UNCOVERED],
    ] as const) {
      expect(await at(now), now).toEqual({ gross, statements });
    }
  });

  it("does not reuse them in another month", async () => {
    await rollUpTo(fixture.database.knex, 2);
    await at("2026-11-20T09:30:00.000Z");
    expect(await at("2026-12-01T00:00:00.000Z")).toEqual({ gross: "100.00", statements: FULL });
    expect(await at("2027-01-01T00:00:00.000Z")).toEqual({ gross: "0.00", statements: FULL });
    expect(await at("2025-12-31T23:59:59.999Z")).toEqual({ gross: "7.00", statements: FULL });
    expect(await at("2027-11-20T09:30:00.000Z")).toEqual({ gross: "0.00", statements: FULL });
  });

  it("caches the totals of several months at once", async () => {
    await rollUpTo(fixture.database.knex, 2);
    const nows = [
      "2025-12-31T23:59:59.999Z",
      "2026-11-20T09:30:00.000Z",
      "2027-01-01T00:00:00.000Z",
    ];
    for (const now of nows) await at(now);
    for (const now of nows) expect((await at(now)).statements, now).toEqual(UNCOVERED);
  });

  it("counts covered charges dated after now when they are due, with the same totals", async () => {
    await insert(charge("2026-11-25 00:00:00.000", "5.00"));
    await insert(charge("2026-11-27 00:00:00.000", "-5.00"));
    await insert(charge("2026-12-01 00:00:00.000", "3.00"));
    await rollUpTo(fixture.database.knex, 6);
    for (const [now, gross, statements] of [
      ["2026-11-20T09:30:00.000Z", "100.00", FULL],
      ["2026-11-24T23:59:59.999Z", "100.00", UNCOVERED],
      ["2026-11-25T00:00:00.000Z", "105.00", UNCOVERED],
      ["2026-11-27T00:00:00.000Z", "100.00", UNCOVERED],
      ["2026-11-24T23:59:59.999Z", "100.00", UNCOVERED],
      ["2026-12-01T00:00:00.000Z", "103.00", FULL],
      ["2026-12-01T00:00:00.000Z", "103.00", UNCOVERED],
    ] as const) {
      expect(await at(now), now).toEqual({ gross, statements });
    }
  });

  it("with cached totals counts charges that were recorded and became due since", async () => {
    await rollUpTo(fixture.database.knex, 2);
    await at("2026-11-20T09:30:00.000Z");
    await insert(charge("2026-11-25 00:00:00.000", "5.00"));
    for (const [now, gross] of [
      ["2026-11-20T09:30:00.000Z", "100.00"],
      ["2026-11-24T23:59:59.999Z", "100.00"],
      ["2026-11-25T00:00:00.000Z", "105.00"],
    ] as const) {
      expect(await at(now), now).toEqual({ gross, statements: UNCOVERED });
    }
  });
});
