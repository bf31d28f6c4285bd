/** Resuming a rebuild that was killed. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { beginBuild, buildSegment } from "../../../../src/rollup/write/build.ts";
import { rollUp } from "../../../../src/rollup/write/run.ts";
import { verify } from "../../../../src/rollup/write/verify.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { buildMonths, charge, WATERMARK } from "./built.ts";

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase();
  await database.knex("providers").insert({ id: 1, name: "provider" });
  await buildMonths(database.knex);
});
afterEach(() => database.drop());

const state = () => database.knex("rollups").where({ provider_id: 1 }).first();

it("the next run completes the rebuild and refreshes it", async () => {
  await buildSegment(database.knex, await beginBuild(database.knex, "1", WATERMARK, true), 1);
  expect(await state()).toMatchObject({ generation: 1, build_generation: 2 });
  await database.knex("charges").insert(charge("2025-09-07 00:00:00.000", "2026-02-01"));

  await rollUp(database.knex, { margin: 0 });
  const after = await state();
  expect(after).toMatchObject({ generation: 2, build_generation: null });
  expect(after.cut > "2026-02-01").toBe(true);
  const generations = await database
    .knex("rollup_figures")
    .distinct("generation")
    .pluck("generation");
  expect(generations).toEqual([2]);
  expect(await Array.fromAsync(verify(database.knex, "1"))).toEqual([]);
});

it("a run without a build in progress keeps the generation", async () => {
  await rollUp(database.knex, { margin: 0 });
  expect(await state()).toMatchObject({ generation: 1, build_generation: null });
});
