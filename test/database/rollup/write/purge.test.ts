/** What a purge takes away, and what it must leave. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { beginBuild, buildSegment, purge } from "../../../../src/rollup/write/build.ts";
import { verify } from "../../../../src/rollup/write/verify.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { build, buildMonths, WATERMARK } from "./built.ts";

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase();
  await buildMonths(database.knex);
});
afterEach(() => database.drop());

const generations = (table: string) =>
  database.knex(table).distinct("generation").orderBy("generation").pluck("generation");
const rebuild = () => beginBuild(database.knex, "1", WATERMARK, true);

it("what is left of versions that are neither read nor being built goes", async () => {
  await buildSegment(database.knex, await rebuild(), 1); // left behind as generation 2
  await buildSegment(database.knex, await rebuild(), 1); // generation 3
  await build(database.knex, "1", WATERMARK, 1); // takes up generation 3
  await purge(database.knex, "1");
  for (const table of ["rollup_checkpoints", "rollup_figures", "rollup_months"]) {
    expect(await generations(table)).toEqual([3]);
  }
  expect(await Array.fromAsync(verify(database.knex, "1"))).toEqual([]);
});

// Regression: the purge took whatever it had not seen in use at its own beginning, and so the
// checkpoints of a build begun since. That build then failed at its second step, for ever.
it("a build that is begun while a purge is under way is left alone", async () => {
  await rebuild();
  await build(database.knex, "1", WATERMARK, 1); // generation 2; the purge has 1 to take away
  const deletes = Promise.withResolvers<void>();
  database.knex.on("query", ({ sql }: { readonly sql: string }) => {
    if (sql.startsWith("delete from `rollup_figures`")) deletes.resolve();
  });
  const holder = await database.knex.transaction();
  await holder("rollup_figures").where({ provider_id: 1, generation: 1 }).forUpdate();
  const sweeping = purge(database.knex, "1");
  await deletes.promise;
  await buildSegment(database.knex, await rebuild(), 1);
  await holder.rollback();
  await sweeping;
  expect(await generations("rollup_checkpoints")).toEqual([2, 3]);
  expect(await generations("rollup_figures")).toEqual([2, 3]);
  await build(database.knex, "1", WATERMARK, 1);
  expect(await Array.fromAsync(verify(database.knex, "1"))).toEqual([]);
});
