/** Rows that killed runs or operators leave in the rollup's tables. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { TABLES } from "../../../../src/rollup/tables.ts";
import { rollUp } from "../../../../src/rollup/write/run.ts";
import { verify } from "../../../../src/rollup/write/verify.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { charge } from "./built.ts";

const GENERATION_TABLES = [TABLES.checkpoints, TABLES.totals, TABLES.months];

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase();
  await database.knex("providers").insert({ id: 1, name: "provider" });
  await database.knex("charges").insert(charge("2025-09-05", "2025-12-01"));
  await rollUp(database.knex, { margin: 0 });
});
afterEach(() => database.drop());

const generations = (table: string) =>
  database.knex(table).distinct("generation").pluck("generation");
const differences = () => Array.fromAsync(verify(database.knex, "1"));

// Regression: the new build used the generation of the old rows, and failed at every run.
it("a rollup whose state was deleted is built as a generation after the rows that are left", async () => {
  await database.knex("rollups").del();
  await database.knex("charges").insert(charge("2025-09-06", "2025-12-01"));
  await rollUp(database.knex, { margin: 0 });
  expect(await differences()).toEqual([]);
  for (const table of GENERATION_TABLES) expect(await generations(table)).toEqual([2]);
});

it("rows of an old generation are purged by the next run", async () => {
  await database.knex("rollups").update({ generation: 3 });
  for (const table of GENERATION_TABLES) await database.knex(table).update({ generation: 3 });
  await database
    .knex("rollup_months")
    .insert({ provider_id: 1, generation: 2, month: 202509, gross: "5.00" });
  await rollUp(database.knex, { margin: 0 });
  expect(await generations("rollup_months")).toEqual([3]);
  expect(await differences()).toEqual([]);
});
