/**
 * The effects of broken assumptions are those of the table in docs/rollups.md, and the next run repairs
 * them: it checks the whole of a small installation.
 */
import type { JsonObject } from "@bufbuild/protobuf";
import type { Knex } from "knex";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createRead } from "../../src/db/query.ts";
import { createRevenueService } from "../../src/revenue/service.ts";
import { TABLES } from "../../src/rollup/coverage.ts";
import { CHECK_PERIOD } from "../../src/rollup/write/run.ts";
import { scheduleCheck } from "../../src/rollup/write/state.ts";
import { build, differences, refreshTo } from "../database/rollup/write/built.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { atTimeOfCall, breakdownOf } from "../support/ledger/call.ts";
import { rollUp } from "../support/rollup/roll-up.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
  await database.knex("providers").insert({ id: 1, name: "first" });
});
afterAll(() => database?.drop());

/** Three charges and a rental, recorded five hours ago, and a rollup with leaves of a day. */
beforeEach(async () => {
  const { knex } = database;
  for (const table of ["charges", "rentals", ...Object.values(TABLES)]) await knex(table).del();
  for (const month of ["2024-11", "2024-12", "2025-01"]) {
    await charge(`${month}-15 12:00`, "10.00", -300);
  }
  await rental("2024-11-05 12:00", "2024-12-20 12:00", -300);
  await build(knex, "1", await now());
});

/** The database's clock. */
async function now(): Promise<string> {
  const [[row]] = await database.knex.raw("SELECT UTC_TIMESTAMP(3) AS now");
  return row.now;
}

/** Inserts a charge that was recorded `minutes` from now. */
async function charge(at: string, gross: string, minutes: number): Promise<void> {
  await database.knex.raw(
    `INSERT INTO charges (provider_id, server_id, charged_at, gross, recorded_at)
     VALUES (1, 1, ?, ?, UTC_TIMESTAMP(3) + INTERVAL ? MINUTE)`,
    [at, gross, minutes],
  );
}

/** Inserts a rental that was written `minutes` from now. */
async function rental(start: string, end: string, minutes: number, server = 1): Promise<void> {
  await database.knex.raw(
    `INSERT INTO rentals (provider_id, server_id, started_at, ended_at, updated_at)
     VALUES (1, ?, ?, ?, UTC_TIMESTAMP(3) + INTERVAL ? MINUTE)`,
    [server, start, end, minutes],
  );
}

/** Inserts a row in a session in a time zone. */
async function insertIn(zone: string, table: string, row: object): Promise<void> {
  await database.knex.transaction(async (transaction) => {
    await transaction.raw("SET time_zone = ?", [zone]);
    await transaction(table).insert({ provider_id: 1, server_id: 1, ...row });
    await transaction.raw("SET time_zone = '+00:00'");
  });
}

/** Runs once, after which the rollup is that of the ledger. Resolves to the number of repairs. */
async function repair(): Promise<number> {
  const { repairs } = await rollUp(database.knex, { margin: 0 });
  expect(await differences(database.knex)).toEqual([]);
  return repairs;
}

/** The gross revenue and the number of rentals of a period, without cached sums, `hours` from now. */
async function totals(start: string, end: string, hours = 0) {
  const service = createRevenueService(atTimeOfCall(createRead(database.knex)));
  const at = new Date(Date.now() + hours * 3_600_000).toISOString();
  const answer = (await breakdownOf(service, 1n, at, start, end)) as JsonObject;
  return [(answer.totalRevenue as JsonObject).value, answer.totalRentals];
}

const ALL = ["2024-01-01", "2025-12-31"] as const;

it("a charge that commits late is missing, but in the head or the tail of a period", async () => {
  await charge("2024-12-01 06:00", "1.00", -5);
  expect(await totals(...ALL)).toEqual(["30.00", 1]);
  expect(await totals("2024-12-01T05:00Z", "2025-12-31")).toEqual(["21.00", 1]);
  expect(await totals("2024-12-01T07:00Z", "2025-12-31")).toEqual(["20.00", 1]);
  expect(await totals("2024-01-01", "2024-12-01T07:00Z")).toEqual(["11.00", 1]);
  expect(await totals("2024-12-01T05:00Z", "2024-12-01T07:00Z")).toEqual(["1.00", 1]);
  expect(await repair()).toBeGreaterThan(0);
  expect(await totals(...ALL)).toEqual(["31.00", 1]);
});

it("a rental written with a recording time in the past is missing, but in the head or the tail, and without a boundary can be taken off", async () => {
  // So that there is a boundary between its start and its end.
  await charge("2024-12-06 00:00", "0.00", 0);
  await repair();
  await rental("2024-12-05 06:00", "2024-12-08 06:00", -120);
  await rental("2024-12-05 06:00", "2024-12-08 06:00", -120, 2);
  expect(await totals(...ALL)).toEqual(["30.00", 1]); // of 3
  expect(await totals("2024-12-08T05:00Z", "2025-12-31")).toEqual(["20.00", 3]);
  expect(await totals("2024-11-01", "2024-12-05T07:00Z")).toEqual(["10.00", 3]);
  // After its end, on the same day: one runs. Never below 0.
  expect(await totals("2024-12-08T07:00Z", "2024-12-08T08:00Z")).toEqual(["0.00", 0]);
  expect(await repair()).toBeGreaterThan(0);
  expect(await totals("2024-12-08T07:00Z", "2024-12-08T08:00Z")).toEqual(["0.00", 1]);
  expect(await totals(...ALL)).toEqual(["30.00", 3]);
});

it("a charge of a session in any time zone, or recorded in the future, counts at once", async () => {
  for (const zone of ["-05:00", "+05:00"]) {
    await insertIn(zone, "charges", { charged_at: "2024-12-01", gross: "1.00" });
  }
  await charge("2024-12-01 00:00", "1.00", 300);
  expect(await totals(...ALL)).toEqual(["33.00", 1]);
  expect(await repair()).toBe(0);
});

it.each([
  ["west", "-05:00", { rentals: 1, repairs: 1 }],
  ["east", "+05:00", { rentals: 2, repairs: 0 }],
] as const)("a rental that ends in a session %s of UTC", async (_, zone, { rentals, repairs }) => {
  await insertIn(zone, "rentals", { started_at: "2024-12-01", ended_at: "2024-12-18" });
  expect(await totals(...ALL)).toEqual(["30.00", rentals]);
  expect(await repair()).toBe(repairs);
  expect(await totals(...ALL)).toEqual(["30.00", 2]);
});

it.each([
  ["changed", (row: Knex.QueryBuilder) => row.update({ gross: "99.00" }), "109.00", "119.00"],
  ["deleted", (row: Knex.QueryBuilder) => row.del(), "10.00", "20.00"],
] as const)(
  "a %s charge still counts as it was, but in the head or the tail",
  async (_, change, near, after) => {
    await change(database.knex("charges").where("charged_at", "2024-12-15 12:00"));
    expect(await totals(...ALL)).toEqual(["30.00", 1]);
    expect(await totals("2024-12-15T11:00Z", "2025-12-31")).toEqual([near, 1]);
    expect(await totals("2024-01-01", "2024-12-15T13:00Z")).toEqual([near, 1]);
    expect(await repair()).toBeGreaterThan(0);
    expect(await totals(...ALL)).toEqual([after, 1]);
  },
);

it("a replaced charge counts twice until the next run", async () => {
  await database.knex.raw(
    `REPLACE INTO charges (id, provider_id, server_id, charged_at, gross)
     SELECT id, provider_id, server_id, charged_at, gross FROM charges
     WHERE charged_at = '2024-12-15 12:00'`,
  );
  expect(await totals(...ALL)).toEqual(["40.00", 1]);
  await refreshTo(database.knex, "1", await now());
  expect(await totals(...ALL)).toEqual(["30.00", 1]);
});

it("a rental that is written again counts twice until the next run", async () => {
  await database.knex.raw("UPDATE rentals SET updated_at = UTC_TIMESTAMP(3)");
  expect(await totals(...ALL)).toEqual(["30.00", 2]);
  expect(await repair()).toBe(0);
  expect(await totals(...ALL)).toEqual(["30.00", 1]);
});

it("a rental that gets another start and end counts twice, then at both until the check", async () => {
  await database.knex("rentals").update({ started_at: "2025-01-10", ended_at: "2025-01-12" });
  const old = ["2024-11-10", "2024-11-11"] as const;
  const current = ["2025-01-11", "2025-01-11"] as const;
  expect(await totals(...ALL)).toEqual(["30.00", 2]);
  await refreshTo(database.knex, "1", await now());
  expect(await totals(...ALL)).toEqual(["30.00", 2]);
  expect(await totals(...old)).toEqual(["0.00", 1]);
  expect(await totals(...current)).toEqual(["0.00", 1]);
  expect(await repair()).toBeGreaterThan(0);
  expect(await totals(...old)).toEqual(["0.00", 0]);
  expect(await totals(...ALL)).toEqual(["30.00", 1]);
});

it("a deleted rental still counts, but in the head or the tail it may not", async () => {
  await database.knex("rentals").del();
  expect(await totals(...ALL)).toEqual(["30.00", 1]);
  expect(await totals("2024-01-01", "2024-11-05T13:00Z")).toEqual(["0.00", 0]);
  expect(await repair()).toBeGreaterThan(0);
  expect(await totals(...ALL)).toEqual(["30.00", 0]);
});

/** Sets the watermark to an hour from now. */
async function setWatermark(): Promise<void> {
  await database.knex.raw("UPDATE rollups SET watermark = UTC_TIMESTAMP(3) + INTERVAL 1 HOUR");
}

it("a watermark in the future has no effect on answers, and the next run builds the rollup again", async () => {
  await setWatermark();
  await charge("2024-12-01 00:00", "1.00", 0);
  expect(await totals(...ALL)).toEqual(["31.00", 1]);
  expect(await repair()).toBeGreaterThan(0);
  expect(await totals(...ALL)).toEqual(["31.00", 1]);
});

it("if the clock reaches the watermark before a run does, charges recorded in between are missing", async () => {
  await setWatermark();
  await charge("2024-12-01 00:00", "1.00", 30);
  expect(await totals(...ALL)).toEqual(["31.00", 1]);
  // Two hours later.
  await database.knex.raw("UPDATE rollups SET watermark = watermark - INTERVAL 2 HOUR");
  await database.knex.raw("UPDATE charges SET recorded_at = recorded_at - INTERVAL 2 HOUR");
  expect(await totals(...ALL)).toEqual(["30.00", 1]);
});

it("rows of the rollup that were changed by hand are repaired by the check", async () => {
  await database.knex.raw("UPDATE rollup_sums SET gross = gross + 1 WHERE at < '2024-12-31'");
  expect(await differences(database.knex)).not.toEqual([]);
  await repair();
});

it("if the rows of rollups are deleted everything is read raw, and the next run builds them", async () => {
  await database.knex(TABLES.rollups).del();
  await charge("2024-12-01 00:00", "1.00", -120);
  expect(await totals(...ALL)).toEqual(["31.00", 1]);
  expect(await repair()).toBe(0);
  expect(await totals(...ALL)).toEqual(["31.00", 1]);
  expect(await database.knex(TABLES.rollups).where({ provider_id: 1 })).toHaveLength(1);
});

it("after a restore of the ledger alone answers are wrong until everything is checked", async () => {
  const { knex } = database;
  await charge("2024-12-01 00:00", "1.00", 0);
  await refreshTo(knex, "1", await now());
  await knex("charges").where({ gross: "1.00" }).del();
  await charge("2024-12-02 00:00", "2.00", -1);
  expect(await totals(...ALL)).toEqual(["31.00", 1]);
  await scheduleCheck(knex, "1", CHECK_PERIOD); // as --verify --repair does
  expect(await repair()).toBeGreaterThan(0);
  expect(await totals(...ALL)).toEqual(["32.00", 1]);
});
