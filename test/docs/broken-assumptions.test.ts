/** The effects of broken assumptions are those in docs/rollups.md, and the next run repairs them. */
import type { JsonObject } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createRead } from "../../src/db/query.ts";
import { createRevenueService } from "../../src/revenue/service.ts";
import type { Cause } from "../../src/rollup/write/difference.ts";
import { rollUp } from "../../src/rollup/write/run.ts";
import { verify } from "../../src/rollup/write/verify.ts";
import { build } from "../database/rollup/write/built.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { breakdownOf } from "../support/ledger/call.ts";
import { expectExact } from "../support/rollup/snapshot-oracle.ts";

let database: TestDatabase;

/** A ledger that was recorded five hours ago, with each of three charges in its own segment. */
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
  const [[{ now }]] = await knex.raw("SELECT NOW(3) - INTERVAL 1 SECOND AS now");
  await build(knex, "1", now, 1);
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

/** Runs once, and expects everything to be exact afterwards. Resolves to the causes of repairs. */
async function repair(): Promise<Cause[]> {
  const causes: Cause[] = [];
  await rollUp(database.knex, {
    ...{ margin: 0, checkPeriod: 1_000 },
    repaired: ({ cause }) => causes.push(cause),
  });
  expect(await differences()).toEqual([]);
  await expectExact(database.knex, "1");
  return [...new Set(causes)];
}

const differences = () => Array.fromAsync(verify(database.knex, "1"));

/** The gross revenue and the number of rentals of a period, through a service without cached totals. */
async function totals(start: string, end: string): Promise<[gross: string, rentals: number]> {
  const service = createRevenueService(createRead(database.knex));
  const answer = await breakdownOf(service, 1n, "2026-01-01T00:00:00Z", start, end);
  const { totalRevenue, totalRentals } = answer as JsonObject;
  return [(totalRevenue as JsonObject).value as string, totalRentals as number];
}

const ALL = ["2024-01-01", "2025-12-31"] as const;

it.each([10, 120])(
  "a charge recorded %i minutes before the watermark is missing until the next run",
  async (minutes) => {
    await charge("2024-12-01 00:00:00.000", "1.00", -minutes);
    expect(await totals(...ALL)).toEqual(["30.00", 1]);
    expect(await differences()).not.toEqual([]);
    expect(await repair()).toEqual(["late commit"]);
    expect(await totals(...ALL)).toEqual(["31.00", 1]);
  },
);

it("a late charge in an edge counts in the period that has it, and is taken off those beside it", async () => {
  await charge("2024-11-25 00:00:00.000", "1.00", -120);
  expect(await totals("2024-01-01", "2024-11-28")).toEqual(["11.00", 1]);
  expect(await totals("2024-01-01", "2024-11-20")).toEqual(["10.00", 1]);
  expect(await totals("2024-11-26", "2025-12-31")).toEqual(["19.00", 1]);
  expect(await totals("2024-12-01", "2025-12-31")).toEqual(["20.00", 1]); // begins at a checkpoint
  await charge("2024-12-20 00:00:00.000", "1.00", -120);
  expect(await totals("2024-12-01", "2024-12-17")).toEqual(["9.00", 1]);
});

it("a late rental is taken off such periods too", async () => {
  await database.knex.raw(
    `INSERT INTO rentals (id, provider_id, server_id, started_at, ended_at, updated_at)
     VALUES (2, 1, 1, '2024-12-05', '2024-12-08', NOW(3) - INTERVAL 2 HOUR)`,
  );
  expect(await totals("2024-12-01", "2024-12-14")).toEqual(["0.00", 2]);
  expect(await totals("2024-12-09", "2025-01-31")).toEqual(["20.00", 0]); // of one
  expect(await totals("2024-01-01", "2025-01-31")).toEqual(["30.00", 1]); // of two
  expect(await repair()).toEqual(["late commit"]);
  expect(await totals("2024-12-09", "2025-01-31")).toEqual(["20.00", 1]);
});

it("a late charge is repaired and reported too if something else was recorded since", async () => {
  await charge("2024-12-01 00:00:00.000", "1.00", -120);
  await charge("2024-12-02 00:00:00.000", "0.10", 0);
  expect(await repair()).toEqual(["late commit"]);
  expect(await totals(...ALL)).toEqual(["31.10", 1]);
});

it("a charge of a session in any time zone counts at once", async () => {
  for (const zone of ["-05:00", "+05:00"]) {
    await database.knex.transaction(async (transaction) => {
      await transaction.raw("SET time_zone = ?", [zone]);
      await transaction.raw(
        "INSERT INTO charges (provider_id, server_id, charged_at, gross) VALUES (1, 1, '2024-12-01', 1)",
      );
      await transaction.raw("SET time_zone = '+00:00'");
    });
  }
  expect(await totals(...ALL)).toEqual(["32.00", 1]);
  expect(await repair()).toEqual([]);
});

it.each([
  { zone: "-05:00", rentals: 1, causes: ["late commit"] },
  { zone: "+05:00", rentals: 2, causes: [] },
])("a rental that ends in a session in $zone counts after the next run", async (expected) => {
  await database.knex.transaction(async (transaction) => {
    await transaction.raw("SET time_zone = ?", [expected.zone]);
    await transaction.raw(
      "INSERT INTO rentals (provider_id, server_id, started_at, ended_at) VALUES (1, 1, '2024-12-01', '2024-12-18')",
    );
    await transaction.raw("SET time_zone = '+00:00'");
  });
  expect(await totals(...ALL)).toEqual(["30.00", expected.rentals]);
  expect(await repair()).toEqual(expected.causes);
  expect(await totals(...ALL)).toEqual(["30.00", 2]);
});

it("a charge recorded in the future counts at once", async () => {
  await charge("2024-12-01 00:00:00.000", "1.00", 300);
  expect(await totals(...ALL)).toEqual(["31.00", 1]);
  expect(await repair()).toEqual([]);
});

it("a changed charge counts with its old amount until the next run, and beside it the difference", async () => {
  await database.knex("charges").whereRaw("charged_at LIKE '2024-12%'").update({ gross: "99.00" });
  expect(await totals(...ALL)).toEqual(["30.00", 1]);
  expect(await totals("2024-12-01", "2025-12-31")).toEqual(["20.00", 1]);
  expect(await totals("2024-12-16", "2025-12-31")).toEqual(["-79.00", 1]); // 10.00 less 89.00
  expect(await repair()).toEqual(["changed row"]);
  expect(await totals(...ALL)).toEqual(["119.00", 1]);
});

it("a deleted charge still counts until the next run", async () => {
  await database.knex("charges").whereRaw("charged_at < '2024-12-01'").delete();
  expect(await totals(...ALL)).toEqual(["30.00", 1]);
  expect(await repair()).toEqual(["deleted row"]);
  expect(await totals(...ALL)).toEqual(["20.00", 1]);
});

/** Builds the rollup again, with a rental that starts and ends beside a checkpoint, 2025-01-01. */
async function buildWithRental(): Promise<void> {
  const { knex } = database;
  await knex.raw(
    `INSERT INTO rentals (id, provider_id, server_id, started_at, ended_at, updated_at)
     VALUES (3, 1, 1, '2024-12-28', '2025-01-04', NOW(3) - INTERVAL 5 HOUR)`,
  );
  const [[{ now }]] = await knex.raw("SELECT NOW(3) - INTERVAL 1 SECOND AS now");
  await build(knex, "1", now, 1);
}

/** The numbers of rentals of periods before its start and after its end. */
const besideRental = async () => [
  (await totals("2024-12-21", "2024-12-25"))[1],
  (await totals("2025-01-06", "2025-01-20"))[1],
];

it("a rental that gets another end counts twice until the next run, and beside its old one", async () => {
  await buildWithRental();
  expect(await besideRental()).toEqual([0, 0]);
  const rental = database.knex("rentals").where({ id: 3 });
  await rental.update({ started_at: "2024-11-09", ended_at: "2024-11-10" });
  expect(await totals(...ALL)).toEqual(["30.00", 3]); // of two
  expect(await besideRental()).toEqual([1, 1]);
  expect(await repair()).toContain("deleted row"); // its old end
  expect(await besideRental()).toEqual([0, 0]);
});

it("a deleted rental still counts until the next run, also beside it", async () => {
  await buildWithRental();
  await database.knex("rentals").where({ id: 3 }).delete();
  expect(await totals(...ALL)).toEqual(["30.00", 2]);
  expect(await besideRental()).toEqual([1, 1]);
  expect(await repair()).toEqual(["deleted row"]);
  expect(await totals(...ALL)).toEqual(["30.00", 1]);
  expect(await besideRental()).toEqual([0, 0]);
});

it("a rental that gets another start has it after the next run", async () => {
  await database.knex("rentals").update({ started_at: "2024-12-16 00:00:00.000" });
  expect(await repair()).not.toEqual([]);
  expect(await totals("2024-11-01", "2024-11-30")).toEqual(["10.00", 0]);
  expect(await totals(...ALL)).toEqual(["30.00", 1]);
});

it("a rental that is written again without a change counts once, before and after the next run", async () => {
  await database.knex.raw("UPDATE rentals SET updated_at = NOW(3)");
  expect(await totals(...ALL)).toEqual(["30.00", 1]);
  expect(await repair()).toEqual([]);
  expect(await totals(...ALL)).toEqual(["30.00", 1]);
});

it("a watermark in the future is an error, and the next run builds the rollup again", async () => {
  await database.knex("rollups").update({ cut: "9000-01-01 00:00:00.000" });
  await charge("2024-12-01 00:00:00.000", "1.00", 0);
  expect(await differences()).toContainEqual(expect.stringContaining("lies in the future"));
  expect(await repair()).toEqual(["future watermark"]);
  expect(await totals(...ALL)).toEqual(["31.00", 1]);
});

it.each([
  "UPDATE rollup_figures SET gross = gross + 1 WHERE at < '2024-12-31'",
  "UPDATE rollup_figures SET charges = charges + 1, started = 7",
  "DELETE FROM rollup_figures WHERE at < '2024-12-31'",
  "INSERT INTO rollup_figures SELECT provider_id, generation, at, 99, 0, 5, 1, 0, 0 FROM rollup_checkpoints",
  "UPDATE rollup_checkpoints SET gross = gross - 3 WHERE at < '2024-12-31'",
  "DELETE FROM rollup_checkpoints WHERE at < '2024-12-31'",
  "DELETE FROM rollup_checkpoints",
  "UPDATE rollup_months SET gross = 77",
  "INSERT INTO rollup_months VALUES (1, 1, 202406, 5)",
  "DELETE FROM rollup_months",
])("rows of the rollup that were changed by hand are repaired by the next run: %s", async (sql) => {
  await database.knex.raw(sql);
  await repair();
});

it("without its row in rollups everything is read raw, and the next run builds a rollup", async () => {
  await database.knex("rollups").delete();
  await charge("2024-12-01 00:00:00.000", "1.00", -120);
  expect(await totals(...ALL)).toEqual(["31.00", 1]);
  expect(await repair()).toEqual([]);
  expect(await totals(...ALL)).toEqual(["31.00", 1]);
  expect(await database.knex("rollups").first()).toMatchObject({ generation: 2 });
});
