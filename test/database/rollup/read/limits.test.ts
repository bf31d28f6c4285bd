/** Rows and periods at the limits of time, and at a boundary of all leaves. */
import { beforeEach, expect, it } from "vitest";
import { build, charge, DAY, differences, FIVE_MINUTES } from "../write/built.ts";
import { createComparedService, createSmallDatabase, minute } from "./compared.ts";

const knex = await createSmallDatabase();

/** What rows are dated at, and periods begin and end at. */
const MARKS = [
  "0001-01-01 00:00:00.000",
  "0001-01-01 00:00:00.001",
  "2026-02-28 23:59:59.999",
  "2026-03-01 00:00:00.000",
  // No boundary lies between these.
  "2026-03-01 00:01:00.000",
  "2026-03-01 00:02:00.000",
  "2026-11-20 08:02:00.000", // the watermark
  "2026-11-20 08:02:00.001",
  "9999-12-31 23:59:59.999",
] as const;
const ZERO = "0000-00-00 00:00:00.000";

beforeEach(async () => {
  await knex("charges").insert([
    ...MARKS.map((at) => charge(at, minute(1))),
    ...[charge(ZERO, minute(1), "8.00"), charge(ZERO, minute(3))],
  ]);
  const rental = { provider_id: 1, server_id: 1, updated_at: minute(1) };
  await knex("rentals").insert([
    ...MARKS.slice(1).map((ended_at, nth) => ({ ...rental, started_at: MARKS[nth], ended_at })),
    { ...rental, started_at: ZERO, ended_at: MARKS[3] },
    { ...rental, started_at: ZERO, ended_at: ZERO },
  ]);
});

it.each([
  ["without a rollup", undefined],
  ["with leaves of five minutes", FIVE_MINUTES],
  ["with leaves of a day", DAY],
])(
  "%s every period between two marks is exact, and the date zero counts as the first instant",
  async (_, leaf) => {
    if (leaf !== undefined) await build(knex, "1", minute(2), leaf);
    expect(await differences(knex)).toEqual([]);
    const service = createComparedService(knex);
    await service.overview();
    const marks = MARKS.map((at) => `${at.replace(" ", "T")}Z`);
    for (const [nth, start] of marks.entries()) {
      for (const end of marks.slice(nth)) await service.breakdown([start, end]);
    }
  },
);
