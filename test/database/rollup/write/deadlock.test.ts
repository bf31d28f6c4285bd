/** Retrying after a deadlock. Galera reports certification failures with the same code. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { beginBuild } from "../../../../src/rollup/write/build.ts";
import { rollUp } from "../../../../src/rollup/write/run.ts";
import { verify } from "../../../../src/rollup/write/verify.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { type ProcessList, watchProcesses } from "../../../support/process-list.ts";

let database: TestDatabase;
let processes: ProcessList;
beforeEach(async () => {
  database = await createDatabase();
  processes = await watchProcesses(database.name);
  await database.knex("providers").insert({ id: 1, name: "provider" });
  await insertCharge();
  await rollUp(database.knex, { margin: 0 });
  await insertCharge();
});
afterEach(async () => {
  await processes.close();
  await database.drop();
});

const insertCharge = () =>
  database
    .knex("charges")
    .insert({ provider_id: 1, server_id: 1, charged_at: "2026-01-10", gross: "1.00" });

it("a run that is the victim of a deadlock retries and succeeds", async () => {
  const codes: unknown[] = [];
  database.knex.on("query-error", (error: { readonly code?: unknown }) => codes.push(error.code));

  const other = await database.knex.transaction();
  // InnoDB rolls back the transaction that has changed fewer rows: not this one.
  const row = { ...(await other(TABLES.sums).first()), provider_id: 2 };
  await other(TABLES.sums).insert(
    Array.from({ length: 500 }, (_, server_id) => ({ ...row, server_id })),
  );
  await other(TABLES.sums).where({ provider_id: 1, total: 0 }).forUpdate();
  const rolling = rollUp(database.knex, { margin: 0 });
  await expect.poll(() => processes.running(`INSERT INTO ${TABLES.sums}`)).toHaveLength(1);
  await other(TABLES.rollups).where({ provider_id: 1 }).forUpdate();
  await other.rollback();

  expect(await rolling).toMatchObject({ providers: 1, charges: 1 });
  expect(codes).toEqual(["ER_LOCK_DEADLOCK"]);
  expect(await Array.fromAsync(verify(database.knex, "1"))).toEqual([]);
});

it("two builds of a provider that begin at once wait for each other without a deadlock", async () => {
  const [{ version }] = await database.knex(TABLES.rollups);
  const holder = await database.knex.transaction();
  await holder(TABLES.rollups).where({ provider_id: 1 }).forUpdate();
  const begin = () =>
    beginBuild(database.knex, "1", "2026-01-20 12:00:00.000", String(version), false);
  const builds = Promise.all([begin(), begin()]);
  await expect.poll(() => processes.running("for update")).toHaveLength(2);
  await holder.rollback();
  expect(await builds).toEqual([true, true]);
  expect(await database.knex(TABLES.rollups).where({ building: 1 })).toHaveLength(1);
});
