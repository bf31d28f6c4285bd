/** Which generations a purge deletes. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { beginBuild, buildSegment } from "../../../../src/rollup/write/build.ts";
import { purge } from "../../../../src/rollup/write/purge.ts";
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

it("generations before the current one are deleted", async () => {
  await buildSegment(database.knex, await rebuild(), 1); // generation 2, abandoned
  await buildSegment(database.knex, await rebuild(), 1); // generation 3
  await build(database.knex, "1", WATERMARK, 1); // resumes generation 3
  await purge(database.knex, "1");
  for (const table of ["rollup_checkpoints", "rollup_figures", "rollup_months"]) {
    expect(await generations(table)).toEqual([3]);
  }
  expect(await Array.fromAsync(verify(database.knex, "1"))).toEqual([]);
});

// Regression: the purge deleted every generation that was not in use when it began, and so the
// checkpoints of a later build. That build failed at its second step, in every run.
it("a build that begins during a purge is kept", async () => {
  await rebuild();
  await build(database.knex, "1", WATERMARK, 1); // generation 2; the purge deletes 1
  const deletes = Promise.withResolvers<void>();
  database.knex.on("query", ({ sql }: { readonly sql: string }) => {
    if (sql.startsWith("delete from `rollup_figures`")) deletes.resolve();
  });
  const holder = await database.knex.transaction();
  await holder("rollup_figures").where({ provider_id: 1, generation: 1 }).forUpdate();
  const purging = purge(database.knex, "1");
  await deletes.promise;
  await buildSegment(database.knex, await rebuild(), 1);
  await holder.rollback();
  await purging;
  expect(await generations("rollup_checkpoints")).toEqual([2, 3]);
  expect(await generations("rollup_figures")).toEqual([2, 3]);
  await build(database.knex, "1", WATERMARK, 1);
  expect(await Array.fromAsync(verify(database.knex, "1"))).toEqual([]);
});
