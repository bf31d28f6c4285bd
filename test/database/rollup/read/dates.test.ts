/** Rows and periods at the limits of time and at boundaries, and rows with a date that does not exist. */
import { beforeEach, describe, expect, it } from "vitest";
import { createRead } from "../../../../src/db/query.ts";
import { createRevenueService } from "../../../../src/revenue/service.ts";
import { START } from "../../../../src/rollup/leaves.ts";
import { nextSlice } from "../../../../src/rollup/write/spans.ts";
import { readRollups } from "../../../../src/rollup/write/state.ts";
import { verify } from "../../../../src/rollup/write/verify.ts";
import { atTimeOfCall, overviewOf } from "../../../support/ledger/call.ts";
import { begin, build, charge, DAY, FIVE_MINUTES, MONTH } from "../write/built.ts";
import { createComparedService, createSmallDatabase, minute, NOW } from "./compared.ts";

const database = createSmallDatabase();

/** What rows are dated at, and periods begin and end at: the limits, and a boundary of all leaves. */
const MARKS = [
  "0001-01-01 00:00:00.000",
  "0001-01-01 00:00:00.001",
  "2026-02-28 23:59:59.999",
  "2026-03-01 00:00:00.000",
  "2026-03-01 00:00:00.001",
  // No boundary lies between these.
  "2026-03-01 00:01:00.000",
  "2026-03-01 00:02:00.000",
  "2026-11-20 08:02:00.000", // the watermark
  "2026-11-20 08:02:00.001",
  "9999-12-31 23:59:59.998",
  "9999-12-31 23:59:59.999",
] as const;
const ZERO = "0000-00-00 00:00:00.000";

/** Inserts rows as a writer without a strict `sql_mode` does. */
async function insertUnchecked(table: string, rows: readonly object[]): Promise<void> {
  await database.knex.transaction(async (transaction) => {
    const [[{ mode }]] = await transaction.raw("SELECT @@SESSION.sql_mode AS mode");
    await transaction.raw("SET SESSION sql_mode = ''");
    await transaction(table).insert(rows);
    await transaction.raw("SET SESSION sql_mode = ?", [mode]);
  });
}

beforeEach(async () => {
  const { knex } = database;
  await knex("payouts").del();
  await knex("charges").insert(MARKS.map((at) => charge(at, minute(1))));
  const rental = { provider_id: 1, server_id: 1, updated_at: minute(1) };
  await knex("rentals").insert(
    MARKS.slice(1).map((ended_at, nth) => ({ ...rental, started_at: MARKS[nth], ended_at })),
  );
  await insertUnchecked("charges", [charge(ZERO, minute(1), "8.00"), charge(ZERO, minute(3))]);
  await insertUnchecked("rentals", [
    { ...rental, started_at: ZERO, ended_at: MARKS[3] },
    { ...rental, started_at: ZERO, ended_at: ZERO },
  ]);
});

describe.each([
  ["without a rollup", undefined],
  ["with leaves of five minutes", FIVE_MINUTES],
  ["with leaves of a day", DAY],
  ["with leaves of a month", MONTH],
])("%s", (_, leaf) => {
  it("every period between two marks is exact, and the date zero counts as the first instant", async () => {
    const { knex } = database;
    if (leaf !== undefined) await build(knex, "1", minute(2), leaf);
    expect(await Array.fromAsync(verify(knex, "1"))).toEqual([]);
    const service = createComparedService(knex);
    await service.overview();
    const marks = MARKS.map((at) => `${at.replace(" ", "T")}Z`);
    for (const [nth, start] of marks.entries()) {
      for (const end of marks.slice(nth)) await service.breakdown([start, end]);
    }
  });
});

/** Dates that are sorted before another one, but do not exist. */
const NO_DATES = ["2026-00-10 12:00:00.000", "2026-03-00 12:00:00.000", ZERO];

it("payouts with a date that does not exist are listed, after those with a later one", async () => {
  const payout = { provider_id: 1, amount: "1.00", method: "", status: "" };
  await database.knex("payouts").insert({ ...payout, public_id: "ok", paid_at: "2026-02-28" });
  await insertUnchecked(
    "payouts",
    NO_DATES.map((paid_at, nth) => ({ ...payout, public_id: `no date ${nth}`, paid_at })),
  );
  const service = createRevenueService(atTimeOfCall(createRead(database.knex)));
  expect(await overviewOf(service, 1n, NOW)).toMatchObject({
    recentPayouts: [
      { payoutId: "no date 1", date: "2026-02-28T23:59:59.999Z" },
      { payoutId: "ok", date: "2026-02-28T00:00:00Z" },
      { payoutId: "no date 0", date: "2025-12-31T23:59:59.999Z" },
      { payoutId: "no date 2", date: "0001-01-01T00:00:00Z" },
    ],
  });
});

it("a build looks at no more leaves than rows with such dates lie in", async () => {
  const { knex } = database;
  await knex("charges").del();
  await knex("rentals").del();
  await insertUnchecked(
    "charges",
    NO_DATES.map((at) => charge(at, minute(1))),
  );
  await begin(knex, "1", minute(2), DAY);
  const { leaves } = await knex.transaction(async (reader) => {
    const { build: rollup } = await readRollups(reader, "1");
    if (rollup === undefined) throw new Error("expected a build");
    return nextSlice(reader, rollup, { owners: [], totals: [] }, START, 1_000);
  });
  expect(leaves.owners).toHaveLength(NO_DATES.length);
});
