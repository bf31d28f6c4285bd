/** For which instants what is remembered of a rollup for an overview holds. */
import { describe, expect, it } from "vitest";
import { charge, createCachingFixture, rollUpTo } from "./caching.ts";

const fixture = createCachingFixture();

const insert = (...charges: ReturnType<typeof charge>[]) =>
  fixture.database.knex("charges").insert(charges);

describe("an overview", () => {
  const [WHOLE, BESIDE] = [["fullOverview"], ["uncoveredOverview"]];
  const at = (now: string) => fixture.service.overview({ now });

  it("is remembered for every later instant of its month", async () => {
    await rollUpTo(fixture.database.knex, 2);
    expect((await at("2026-11-20T09:30:00.000Z")).asked).toEqual(WHOLE);
    for (const now of ["2026-11-20T09:30:00.001Z", "2026-11-30T23:59:59.999Z"]) {
      expect(await at(now)).toEqual({ gross: "100.00", asked: BESIDE });
    }
  });

  it("is not remembered for an earlier one: something may have been due since then", async () => {
    await insert(charge("2026-11-20 09:30:00.000", "5.00"));
    await rollUpTo(fixture.database.knex, 6);
    expect(await at("2026-11-20T09:30:00.000Z")).toEqual({ gross: "105.00", asked: WHOLE });
    expect(await at("2026-11-20T09:29:59.999Z")).toEqual({ gross: "100.00", asked: WHOLE });
    expect(await at("2026-11-20T09:30:00.000Z")).toEqual({ gross: "105.00", asked: BESIDE });
  });

  it("is not remembered for another month", async () => {
    await rollUpTo(fixture.database.knex, 2);
    await at("2026-11-20T09:30:00.000Z");
    expect(await at("2026-12-01T00:00:00.000Z")).toEqual({ gross: "100.00", asked: WHOLE });
    expect(await at("2027-01-01T00:00:00.000Z")).toEqual({ gross: "0.00", asked: WHOLE });
    expect(await at("2025-12-31T23:59:59.999Z")).toEqual({ gross: "7.00", asked: WHOLE });
    expect(await at("2027-11-20T09:30:00.000Z")).toEqual({ gross: "0.00", asked: WHOLE });
  });

  it("of some months at once may be remembered, each as long as the rollup stands", async () => {
    await rollUpTo(fixture.database.knex, 2);
    const nows = [
      "2025-12-31T23:59:59.999Z",
      "2026-11-20T09:30:00.000Z",
      "2027-01-01T00:00:00.000Z",
    ];
    for (const now of nows) await at(now);
    for (const now of nows) expect((await at(now)).asked, now).toEqual(BESIDE);
  });

  it("of a month in which something is still to come is never remembered, and counts it when it is due", async () => {
    await insert(charge("2026-11-25 00:00:00.000", "5.00"));
    await rollUpTo(fixture.database.knex, 6);
    for (const [now, gross, asked] of [
      ["2026-11-20T09:30:00.000Z", "100.00", WHOLE],
      ["2026-11-20T09:30:00.000Z", "100.00", WHOLE],
      ["2026-11-24T23:59:59.999Z", "100.00", WHOLE],
      ["2026-11-25T00:00:00.000Z", "105.00", WHOLE],
      ["2026-11-25T00:00:00.000Z", "105.00", BESIDE],
      ["2026-11-26T00:00:00.000Z", "105.00", BESIDE],
      ["2026-11-24T23:59:59.999Z", "100.00", WHOLE],
    ] as const) {
      expect(await at(now), now).toEqual({ gross, asked });
    }
  });

  it("counts what is to come one by one, also where it adds up to nothing", async () => {
    await insert(charge("2026-11-25 00:00:00.000", "5.00"));
    await insert(charge("2026-11-27 00:00:00.000", "-5.00"));
    await rollUpTo(fixture.database.knex, 6);
    for (const [now, gross] of [
      ["2026-11-20T09:30:00.000Z", "100.00"],
      ["2026-11-25T00:00:00.000Z", "105.00"],
      ["2026-11-27T00:00:00.000Z", "100.00"],
    ] as const) {
      expect(await at(now), now).toEqual({ gross, asked: WHOLE });
    }
    expect((await at("2026-11-27T00:00:00.000Z")).asked).toEqual(BESIDE);
  });

  it("is remembered although something is to come in another month", async () => {
    await insert(charge("2026-12-01 00:00:00.000", "5.00"));
    await rollUpTo(fixture.database.knex, 6);
    for (const asked of [WHOLE, BESIDE]) {
      expect(await at("2026-11-20T09:30:00.000Z")).toEqual({ gross: "100.00", asked });
    }
    for (const asked of [WHOLE, BESIDE]) {
      expect(await at("2026-12-01T00:00:00.000Z")).toEqual({ gross: "105.00", asked });
    }
  });

  it("that is remembered counts what was recorded since and has become due since", async () => {
    await rollUpTo(fixture.database.knex, 2);
    await at("2026-11-20T09:30:00.000Z");
    await insert(charge("2026-11-25 00:00:00.000", "5.00"));
    for (const [now, gross] of [
      ["2026-11-20T09:30:00.000Z", "100.00"],
      ["2026-11-24T23:59:59.999Z", "100.00"],
      ["2026-11-25T00:00:00.000Z", "105.00"],
    ] as const) {
      expect(await at(now), now).toEqual({ gross, asked: BESIDE });
    }
  });
});
