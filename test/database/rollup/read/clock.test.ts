/**
 * *Now* is the database's: an answer does not depend on the clock of the service's host, neither its
 * figures nor the dates that it returns.
 */
import { describe, expect, it } from "vitest";
import { build, charge, DAY, FIVE_MINUTES } from "../write/built.ts";
import { createComparedService, createSmallDatabase } from "./compared.ts";

const database = createSmallDatabase();
const NOW = "2026-11-20T12:00:00.000Z";
const MINUTE = 60_000;

/** Charges around now, and around the start of the default period, 30 days before. */
async function storeCharges(): Promise<void> {
  const days = ["2026-10-21", "2026-11-20"];
  const times = ["11:40", "11:55", "11:59:59.999", "12:00", "12:00:00.001", "12:05", "12:20"];
  const instants = days.flatMap((day) => times.map((time) => `${day} ${time}`));
  const rows = instants.map((at) => charge(at, "2026-11-20 11:30:00.000"));
  await database.knex("charges").insert(rows);
}

describe.each([
  ["without a rollup", undefined],
  ["with leaves of five minutes", FIVE_MINUTES],
  ["with leaves of a day", DAY],
])("%s", (_, leaf) => {
  it.each([-20, -4, 300])(
    "answers are exact if the host's clock is ahead by %i minutes",
    async (minutes) => {
      const { knex } = database;
      await storeCharges();
      if (leaf !== undefined) await build(knex, "1", "2026-11-20 11:45:00.000", leaf);
      const service = createComparedService(knex, { hostIsAhead: minutes * MINUTE });
      for (const _ of ["first", "cached"]) {
        await service.overview(NOW);
        await service.breakdown(["", ""], NOW);
        await service.breakdown(["2026-11-19T00:00:00.000Z", ""], NOW);
        await service.breakdown(["", "2026-11-20T11:52:00.000Z"], NOW);
      }
    },
  );
});

it("the default period begins after a given end by the database's clock, not by the host's", async () => {
  const end = new Date(Date.parse(NOW) - 30 * 86_400_000 - MINUTE).toISOString();
  for (const minutes of [-5, 5]) {
    const service = createComparedService(database.knex, { hostIsAhead: minutes * MINUTE });
    await expect(service.breakdown(["", end], NOW)).rejects.toThrow(
      "startDate: required because the default, 30 days before now (2026-10-21T12:00:00.000Z), is after endDate",
    );
  }
});
