/** Locks: runs and the platform's writers do not block each other, and deadlocks end well. */
import type { Knex } from "knex";
import { afterAll, beforeEach, expect, it } from "vitest";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { inSnapshot } from "../../../../src/rollup/write/state.ts";
import { testPool } from "../../../support/database.ts";
import { watchProcesses } from "../../../support/process-list.ts";
import { rollUp } from "../../../support/rollup/roll-up.ts";
import { databaseOfFile, LEDGER } from "../../file-database.ts";
import { differences, rollupOf } from "./built.ts";

const database = await databaseOfFile(["providers", ...LEDGER]);
const processes = await watchProcesses(database.name);
/** The platform's other services. A statement that waits for a lock fails after a second. */
const writer = testPool(database.url, { maxConnections: 1 });
beforeEach(async () => {
  await writer.raw("SET SESSION innodb_lock_wait_timeout = 1");
  await database.knex("providers").insert({ id: 1, name: "provider" });
  await database.knex("rentals").insert({ ...owner, started_at: "2026-01-05" });
  await insertCharge(database.knex);
  await rollUp(database.knex, { margin: 0 });
});
afterAll(async () => {
  await processes.close();
  await writer.destroy();
});

const owner = { provider_id: 1, server_id: 1, instance_id: 1 };
const insertCharge = (knex: Knex) =>
  knex("charges").insert({ ...owner, charged_at: "2026-01-10", gross: "1.00" });
const endRental = (knex: Knex) =>
  knex("rentals").where({ provider_id: 1 }).update({ ended_at: "2026-02-01" });

it("a snapshot is one, also where what a transaction asked for stays with its session", async () => {
  const sticky = testPool(database.url, { maxConnections: 1 });
  await sticky.raw("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
  const counts = await inSnapshot(sticky, async (reader) => {
    const count = async () => (await reader("charges").count("* AS count").first())?.count;
    const first = await count();
    await insertCharge(database.knex);
    return [first, await count()];
  });
  await sticky.destroy();
  expect(counts).toEqual(["1", "1"]);
});

it("a writer inserts charges and ends rentals while a run is in the middle of its transaction", async () => {
  await insertCharge(database.knex);
  const holder = await database.knex.transaction();
  await holder(TABLES.sums).where({ provider_id: 1 }).forUpdate();
  const rolling = rollUp(database.knex, { margin: 0 });
  await expect.poll(() => processes.running(`INSERT INTO ${TABLES.sums}`)).toHaveLength(1);

  await writer.transaction(async (transaction) => {
    await insertCharge(transaction);
    await endRental(transaction);
  });
  expect(await processes.running(`INSERT INTO ${TABLES.sums}`)).toHaveLength(1);

  await holder.rollback();
  await rolling;
  await rollUp(database.knex, { margin: 0 });
  expect(await differences(database.knex)).toEqual([]);
});

it("a refresh and a rebuild complete while a writer's transaction is open, and the next run adds what it commits", async () => {
  const open = await writer.transaction();
  await insertCharge(open);
  await endRental(open);
  for (const rebuild of [false, true]) {
    await insertCharge(database.knex);
    await rollUp(database.knex, { margin: 0, rebuild });
  }
  await open.commit(); // recorded before the watermark, visible only now
  await rollUp(database.knex, { margin: 0 });
  expect(await differences(database.knex)).toEqual([]);
  expect(await rollupOf(database.knex, "1")).toMatchObject({ gross: "4.00" });
});

it("a run that is the victim of a deadlock retries and succeeds", async () => {
  await insertCharge(database.knex);
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
  // Galera reports certification failures with the same code.
  expect(codes).toEqual(["ER_LOCK_DEADLOCK"]);
  expect(await differences(database.knex)).toEqual([]);
});
