/**
 * Differences from the ledger: what `--verify` prints of them, and that the check removes them. More of
 * them, with their effect on answers, are in test/docs/broken-assumptions.test.ts.
 */
import { beforeAll, beforeEach, expect, it } from "vitest";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import type { RollupProgress } from "../../../../src/rollup/write/run/work.ts";
import { testPool } from "../../../support/database.ts";
import { startDatabaseProxy } from "../../../support/database-proxy.ts";
import { repairsOf } from "../../../support/rollup/roll-up.ts";
import { databaseOfFile, LEDGER } from "../../file-database.ts";
import { build, charge, differences, rental } from "./built.ts";
import { expectStored } from "./oracle.ts";

const WATERMARK = "2026-01-20 12:00:00.000";
const DAYS = ["2025-09-05", "2025-10-01", "2025-10-06"];
/** What is told of single rows, and of a rollup that is built anew. */
const [CHANGED, ANEW] = [": repaired by ", ": the rollup is built anew"];

const database = await databaseOfFile(LEDGER);
const { knex } = database;
beforeAll(async () => {
  await knex("providers").insert({ id: 1, name: "provider" });
});
beforeEach(async () => {
  await knex("charges").insert(DAYS.map((day) => charge(day, "2025-12-01")));
  await knex("charges").insert(charge("2025-10-01", "2025-12-01", "2.00", 2));
  await knex("rentals").insert(rental("2025-09-05", "2025-10-01", "2025-12-01"));
  await build(knex, "1", WATERMARK);
});

const run = () => repairsOf(knex);

it("a repair of which the answer to COMMIT is lost is made and reported once", async () => {
  let [isWriting, isLost] = [false, false];
  const proxy = await startDatabaseProxy(database.url, (sent) => {
    isWriting ||= sent.includes("update `rollups`");
    if (isLost || !isWriting || !sent.includes("COMMIT")) return false;
    isLost = true;
    return true;
  });
  const pool = testPool(proxy.url);
  try {
    await knex("charges").insert(charge("2025-09-20", "2025-12-01"));
    expect(await repairsOf(pool)).toEqual([expect.stringContaining(" and 1 charges")]);
    expect(isLost).toBe(true);
    await expect.poll(() => differences(knex)).toEqual([]);
    await expectStored(knex);
  } finally {
    await pool.destroy();
    await proxy.close();
  }
});

it("a repair that cannot be written is not reported", async () => {
  await knex("charges").insert(charge("2025-09-20", "2025-12-01"));
  await knex.raw(
    "CREATE TRIGGER failing BEFORE UPDATE ON rollups FOR EACH ROW SIGNAL SQLSTATE '45000'",
  );
  const report = ({ repair }: RollupProgress) => expect(repair).toBeUndefined();
  const run = repairsOf(knex, { report }).finally(() => knex.raw("DROP TRIGGER failing"));
  await expect(run).rejects.toThrow("provider 1");
  expect(await differences(knex)).not.toEqual([]);
});

const sums = () => knex(TABLES.sums);
const increments = () => knex(TABLES.increments);
const rollups = () => knex(TABLES.rollups);

const boundary = (total: 0 | 1) => sums().where({ total, at: "2025-10-02 00:00:00.000" });
const of = (length: number) => increments().where({ length, at: "2025-10-01 00:00:00.000" });

/** So that all add up: only the ledger tells. */
async function moveBetweenDays() {
  for (const [day, gross] of [
    ["2025-10-01", 1],
    ["2025-10-06", -1],
  ] as const) {
    const rows = increments().where({ at: day }).whereIn("length", [60, 1_440]);
    await rows.increment({ gross, gross_1: gross });
  }
}

/** So that they add up, but not to what the provider as a whole has. */
async function changeAlike() {
  const first = () => increments().where({ at: "2025-10-01 00:00:00.000" });
  await first().increment("charges", 1);
  await first().whereNotNull("charges_1").increment("charges_1", 1);
}

/** What was changed or lost, and the cause that the next run tells. Of single rows, read/damage.test.ts has more. */
it.each<[string, () => PromiseLike<unknown>, cause: string | undefined]>([
  ["an amount moved between days", () => moveBetweenDays(), CHANGED],
  ["a lost day", () => of(1_440).del(), ANEW],
  ["all lengths alike", () => changeAlike(), ANEW],
  ["all increments", () => increments().del(), ANEW],
  ["a lost total", () => boundary(1).del(), ANEW],
  ["the slot", () => rollups().update({ slot: 1 }), undefined],
  ["a watermark", () => rollups().update({ watermark: "2025-11-01" }), undefined],
  ["all totals", () => sums().where({ total: 1 }).del(), ANEW],
  ["a boundary", () => boundary(0).del(), ANEW],
  // The end of no leaf cannot have been stored by a run.
  ["a place", () => sums().where({ at: "2025-10-02" }).update({ at: "2025-10-01 12:00" }), ANEW],
  ["longer leaves", () => rollups().update({ leaf: "P2D" }), ANEW],
])("%s changed by hand is repaired by the next run, which tells why", async (_, disturb, cause) => {
  const before = await rollups().first();
  await disturb();
  expect(await differences(knex)).not.toEqual([]);
  const repairs = await run();
  if (cause !== undefined) {
    expect(repairs).not.toEqual([]);
    for (const repair of repairs) expect(repair).toContain(cause);
    const { slot } = await rollups().first();
    expect(slot === before.slot).toBe(cause === CHANGED);
  }
  expect(await differences(knex)).toEqual([]);
  await expectStored(knex);
  expect(await run()).toEqual([]);
});

it("a watermark in the future leads to a new build", async () => {
  await rollups().update({ watermark: "9000-01-01 00:00:00.000" });
  expect(await differences(knex)).toEqual([
    "provider 1: the watermark 9000-01-01 00:00:00.000 lies in the future",
  ]);
  expect(await run()).toEqual([
    "provider 1, the watermark 9000-01-01 00:00:00.000 lay in the future: the rollup is built anew",
  ]);
  await expectStored(knex);
});

it("a rollup with leaves of no length is built again, with news and without", async () => {
  for (const hasNews of [false, true]) {
    if (hasNews) await knex("charges").insert(charge("2025-10-03", "2026-02-01"));
    await rollups().update({ leaf: "PT7X" });
    expect(await differences(knex)).toEqual([
      'provider 1: the rollup has leaves of an unknown length, "PT7X"',
    ]);
    expect(await run()).toEqual([expect.stringContaining(ANEW)]);
    await expectStored(knex);
  }
});

it("--verify prints each difference, by leaf and owner; the log of a repair is one line", async () => {
  await knex("charges").where({ server_id: 2 }).update({ gross: "7.00" });
  await knex("charges").insert(charge("2025-10-01 08:00:00.000", "2025-12-01"));
  const leaf = "provider 1, 2025-10-01 00:00:00.000 to 2025-10-02 00:00:00.000";
  const differs = "the rollup differs from the ledger by";
  expect(await differences(knex)).toEqual([
    `${leaf}, server 1, instance 0: ${differs} -1.00 of gross and -1 charges`,
    `${leaf}, server 2, instance 0: ${differs} -5.00 of gross`,
    `provider 1, 2025-10-01 00:00:00.000 to 2025-10-01 00:15:00.000, as a whole: ${differs} -5.00 of gross`,
    `provider 1, 2025-10-01 08:00:00.000 to 2025-10-01 08:15:00.000, as a whole: ${differs} -1.00 of gross and -1 charges`,
  ]);
  expect(await run()).toEqual([`${leaf}: repaired by 6.00 of gross and 1 charges`]);
});
