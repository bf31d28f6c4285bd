/** The effects of broken assumptions are those in docs/rollups.md. */
import type { JsonObject } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createRead } from "../../src/db/query.ts";
import { createRevenueService } from "../../src/revenue/service.ts";
import { rollUp } from "../../src/rollup/write/run.ts";
import { verify } from "../../src/rollup/write/verify.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { breakdownOf } from "../support/ledger/call.ts";

let database: TestDatabase;

/** A ledger that was recorded five hours ago, with a checkpoint at the end of each of three months. */
beforeEach(async () => {
  database = await createDatabase();
  const { knex } = database;
  await knex("providers").insert({ id: 1, name: "first" });
  for (const month of ["2024-11", "2024-12", "2025-01"]) {
    await charge(`${month}-15 12:00:00.000`, "10.00", -300);
  }
  await knex.raw(
    `INSERT INTO rentals (id, provider_id, server_id, started_at, ended_at, updated_at)
     VALUES (1, 1, 1, '2024-11-05', '2024-12-20', NOW(3) - INTERVAL 5 HOUR)`,
  );
  await run();
});
afterEach(() => database.drop());

/** Inserts a charge that was recorded `minutes` from now. */
async function charge(at: string, gross: string, minutes: number): Promise<void> {
  await database.knex.raw(
    `INSERT INTO charges (provider_id, server_id, charged_at, gross, recorded_at)
     VALUES (1, 1, ?, ?, NOW(3) + INTERVAL ? MINUTE)`,
    [at, gross, minutes],
  );
}

function run(options: { readonly rebuild?: boolean } = {}): Promise<unknown> {
  return rollUp(database.knex, { margin: 0, ...options });
}

async function differences(): Promise<number> {
  return (await Array.fromAsync(verify(database.knex, "1"))).length;
}

/** The gross revenue and the number of rentals of a period, through a service without cached totals. */
async function totals(start: string, end: string): Promise<[gross: string, rentals: number]> {
  const service = createRevenueService(createRead(database.knex));
  const answer = await breakdownOf(service, 1n, "2026-01-01T00:00:00Z", start, end);
  const { totalRevenue, totalRentals } = answer as JsonObject;
  return [(totalRevenue as JsonObject).value as string, totalRentals as number];
}

const ALL = ["2024-01-01", "2025-12-31"] as const;

it("a charge recorded within the hour before the watermark is missing until the next run", async () => {
  await charge("2024-12-01 00:00:00.000", "1.00", -10);
  expect(await totals(...ALL)).toEqual(["30.00", 1]);
  expect(await differences()).toBeGreaterThan(0);
  await run();
  expect(await totals(...ALL)).toEqual(["31.00", 1]);
  expect(await differences()).toBe(0);
});

it("an older one is missing until something is recorded in its segment", async () => {
  await charge("2024-12-01 00:00:00.000", "1.00", -120);
  await charge("2025-01-20 00:00:00.000", "0.10", 0);
  await run();
  expect(await totals(...ALL)).toEqual(["30.10", 1]);
  expect(await differences()).toBeGreaterThan(0);
  await charge("2024-12-02 00:00:00.000", "0.01", 0);
  await run();
  expect(await totals(...ALL)).toEqual(["31.11", 1]);
});

it("an older one is missing until a rebuild, except in periods with its event time in an edge", async () => {
  await charge("2024-12-01 00:00:00.000", "1.00", -120);
  await run();
  expect(await totals(...ALL)).toEqual(["30.00", 1]);
  expect(await totals("2024-01-01", "2024-12-10")).toEqual(["11.00", 1]);
  await run({ rebuild: true });
  expect(await totals(...ALL)).toEqual(["31.00", 1]);
  expect(await differences()).toBe(0);
});

it("a charge recorded in the future counts at once", async () => {
  await charge("2024-12-01 00:00:00.000", "1.00", 300);
  expect(await totals(...ALL)).toEqual(["31.00", 1]);
  await run();
  expect(await totals(...ALL)).toEqual(["31.00", 1]);
});

it("checkpoint differences show the old amount of a changed charge, and edges the new one", async () => {
  await database.knex("charges").whereRaw("charged_at < '2024-12-01'").update({ gross: "99.00" });
  await run();
  expect(await totals(...ALL)).toEqual(["30.00", 1]);
  expect(await totals("2024-01-01", "2024-11-20")).toEqual(["99.00", 1]);
  expect(await differences()).toBeGreaterThan(0);
  await run({ rebuild: true });
  expect(await totals(...ALL)).toEqual(["119.00", 1]);
});

it("a rental that gets another end counts twice until the next run, and leaves its old end behind", async () => {
  await database.knex("rentals").update({ ended_at: "2024-11-10 00:00:00.000" });
  expect(await totals(...ALL)).toEqual(["30.00", 2]);
  await run();
  expect(await totals(...ALL)).toEqual(["30.00", 1]);
  expect(await totals("2025-01-01", "2025-12-31")).toEqual(["10.00", -1]);
  expect(await differences()).toBeGreaterThan(0);
  await run({ rebuild: true });
  expect(await totals("2025-01-01", "2025-12-31")).toEqual(["10.00", 0]);
  expect(await differences()).toBe(0);
});

it("a deleted rental still counts until a rebuild", async () => {
  await database.knex("rentals").delete();
  await run();
  expect(await totals(...ALL)).toEqual(["30.00", 1]);
  await run({ rebuild: true });
  expect(await totals(...ALL)).toEqual(["30.00", 0]);
});

it("a watermark in the future hides new charges, runs do nothing, and a rebuild repairs it", async () => {
  await database.knex("rollups").update({ cut: "9000-01-01 00:00:00.000" });
  await charge("2024-12-01 00:00:00.000", "1.00", 0);
  await run();
  expect(await totals(...ALL)).toEqual(["30.00", 1]);
  expect(await differences()).toBeGreaterThan(0);
  await run({ rebuild: true });
  expect(await totals(...ALL)).toEqual(["31.00", 1]);
});

it("without its row in rollups everything is read raw, and the next run builds a rollup", async () => {
  await database.knex("rollups").delete();
  await charge("2024-12-01 00:00:00.000", "1.00", -120);
  expect(await totals(...ALL)).toEqual(["31.00", 1]);
  await run();
  expect(await totals(...ALL)).toEqual(["31.00", 1]);
  expect(await database.knex("rollups").first()).toBeDefined();
});
