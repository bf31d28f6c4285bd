/** Which slice of a rollup a check compares, and when the next one is due. */
import { beforeAll, beforeEach, expect, it } from "vitest";
import { FIRST_INSTANT, fromDatetime, toDatetime } from "../../../../src/db/datetime.ts";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { ALL_LENGTHS } from "../../../../src/rollup/stretches.ts";
import { checkSlice } from "../../../../src/rollup/write/check.ts";
import { scheduleCheck } from "../../../../src/rollup/write/state.ts";
import { addBulk } from "../../../support/rollup/bulk.ts";
import { repairsOf, rollUp } from "../../../support/rollup/roll-up.ts";
import { databaseOfFile } from "../../file-database.ts";
import { begin, build, charge, DAY, rental, rollupOf } from "./built.ts";
import { expectStored } from "./oracle.ts";

const PERIOD = 86_400_000;
/** The first slice is most of the rollup, and the second the rest. A leaf of 4 days has 230 rows. */
const [ROWS, CHARGES, AGE] = [1_400, 1_700, 29];
const LEDGER = { servers: 2, instances: 0, days: AGE };

const database = await databaseOfFile();
const { knex } = database;
beforeAll(async () => {
  await addBulk(knex, [{ provider: 1, ...LEDGER, charges: CHARGES, rentals: 20 }]);
  await build(knex, "1", toDatetime(Date.now() - 60_000), DAY);
  for (const table of Object.values(TABLES)) {
    await knex.raw(`CREATE TABLE built_${table} AS SELECT * FROM ${table}`);
  }
});
beforeEach(async () => {
  for (const table of ["charges", "rentals"]) await knex(table).where({ server_id: 1 }).del();
  for (const table of Object.values(TABLES)) {
    await knex(table).del();
    await knex.raw(`INSERT INTO ${table} SELECT * FROM built_${table}`);
  }
});

const state = () => knex(TABLES.rollups).where({ building: 0 }).first();
const now = async () => fromDatetime((await knex.raw("SELECT UTC_TIMESTAMP(3) AS now"))[0][0].now);
/** When the next slice is due, as a part of the period from now. */
const dueIn = async () => (fromDatetime((await state()).check_at) - (await now())) / PERIOD;
const setDue = async (periods: number) =>
  knex(TABLES.rollups).update({ check_at: toDatetime((await now()) + periods * PERIOD) });
/** Inserts charges that a run has not seen, in the first leaf and in the last one. */
const insertLate = (provider_id = 1) =>
  knex("charges").insert(
    [AGE - 1, 1].map((days) => ({
      ...charge(toDatetime(Date.now() - days * PERIOD), toDatetime(Date.now() - 2 * PERIOD)),
      provider_id,
    })),
  );

async function check(rows = ROWS) {
  const { more, outdated, repair } = await checkSlice(knex, "1", { period: PERIOD, rows });
  return { result: outdated ?? (more ? "more" : "done"), found: repair ? [repair.what] : [] };
}

it("slices are compared in turn, each in its part of the period", async () => {
  // Rows that are not covered, in leaves of their own.
  const open = (day: number) => toDatetime(Date.now() - (AGE + day) * PERIOD);
  await knex("rentals").insert(
    Array.from({ length: 60 }, (_, day) => rental(open(day), null, open(day))),
  );
  const before = await rollupOf(knex, "1");
  const parts: number[] = [];
  do {
    await setDue(0);
    expect(await check()).toEqual({ result: "done", found: [] });
    parts.push(await dueIn());
  } while ((await state()).next_from !== FIRST_INSTANT);
  expect(parts.length).toBe(2);
  const sum = parts.reduce((total, part) => total + part);
  expect(sum).toBeGreaterThan(1 - 0.01);
  expect(sum).toBeLessThan(1 + 0.01);
  expect(await rollupOf(knex, "1")).toEqual(before);
});

it.each([
  ["a moment", -0.1, "done"],
  ["years", -1_000, "more"],
  ["a time that was set for a longer period", 30, "done"],
])("after %s, a second slice is due at once only if its time is up", async (_, due, result) => {
  await setDue(due);
  expect(await check()).toMatchObject({ result });
  expect((await dueIn()) > 0).toBe(result === "done");
  await check();
  expect(await dueIn()).toBeGreaterThan(-0.01);
  expect(await dueIn()).toBeLessThanOrEqual(1);
});

it("a slice with a difference is repaired, and the next one compared at once", async () => {
  await insertLate();
  await setDue(0);
  const before = await rollupOf(knex, "1");
  const first = await check();
  expect(first).toEqual({ result: "more", found: [expect.anything()] });
  expect(await dueIn()).toBeLessThanOrEqual(0);
  expect(await check()).toEqual({ result: "done", found: [expect.anything()] });
  expect(await dueIn()).toBeGreaterThan(0);
  await expectStored(knex);
  const after = await rollupOf(knex, "1");
  expect(after?.watermark).toBe(before?.watermark);
  expect(after?.version).not.toBe(before?.version);
});

it.each([
  ["two steps too long for the last months are built again", 2, 0],
  ["one step too long stay", 1, 1],
])("leaves that are %s", async (_, steps, left) => {
  const fitting = ALL_LENGTHS.indexOf("P4D"); // the longest of up to 250 rows
  await build(knex, "1", toDatetime(Date.now() - 60_000), ALL_LENGTHS[fitting + steps]);
  await setDue(-1_000);
  await rollUp(knex, { margin: 3_600_000 });
  expect((await state()).leaf).toBe(ALL_LENGTHS[fitting + left]);
  await expectStored(knex);
});

it("a run compares each slice once, also if all are due again at once", async () => {
  // The slices of a run have 10,000 rows.
  await addBulk(knex, [{ provider: 2, ...LEDGER, charges: 10_500 }]);
  await build(knex, "2", toDatetime(Date.now() - 60_000), DAY);
  await setDue(0);
  for (const repairs of [2, 0]) {
    if (repairs > 0) await insertLate(2);
    expect(await rollUp(knex, { margin: 3_600_000, checkPeriod: 0 })).toMatchObject({
      repairs,
    });
  }
  await expectStored(knex, "2");
});

it("a check that is asked for while another is at work is not lost", async () => {
  await check(); // the first slice
  const first = knex("charges").where({ provider_id: 1 }).orderBy("charged_at").limit(1);
  await first.update({ gross: "7.00" });
  // Between the snapshot of the check, its first transaction, and its write.
  let transactions = 0;
  const interrupted = new Proxy(knex, {
    get: (target, name, receiver) =>
      name !== "transaction"
        ? Reflect.get(target, name, receiver)
        : async (...args: Parameters<typeof knex.transaction>) => {
            if (++transactions === 2) await scheduleCheck(knex, "1", PERIOD);
            return knex.transaction(...args);
          },
  });
  await checkSlice(interrupted, "1", { period: PERIOD, rows: ROWS });
  expect(transactions).toBe(2);
  expect(await dueIn()).toBeLessThanOrEqual(-1);
  expect(await check()).toMatchObject({ found: [expect.anything()] });
  await expectStored(knex);
});

it("a damaged rollup is reported once, not by each run of a build that goes on", async () => {
  await knex(TABLES.sums).where({ total: 1 }).increment("gross", 1);
  await setDue(0);
  const { version, watermark } = await state();
  const result = version;
  const found = [expect.stringContaining("built anew")];
  expect(await check()).toEqual({ result, found });
  await begin(knex, "1", watermark, DAY);
  expect(await check()).toEqual({ result, found: [] });
});

// Regression: the repair had made another version, which nobody built.
it("a run that repairs one slice, and finds the next one damaged, builds the rollup", async () => {
  const of = { provider_id: 3 };
  // Two slices.
  await addBulk(knex, [{ provider: 3, ...LEDGER, charges: 10_500 }]);
  await build(knex, "3", toDatetime(Date.now() - 60_000), DAY);
  await knex("charges").where(of).orderBy("charged_at").limit(1).update({ gross: "7.00" });
  const sums = () => knex(TABLES.sums).where({ ...of, total: 1 });
  const [, at] = await sums().orderBy("at", "desc").pluck("at");
  await sums()
    .where({ at })
    .update({ at: String(at).replace("00:00:00", "00:00:01") });
  await setDue(-1);
  const repairs = await repairsOf(knex, { margin: 3_600_000, checkPeriod: PERIOD });
  expect(repairs.filter((repair) => repair.startsWith("provider 3"))).toEqual([
    expect.stringContaining(": repaired by "),
    expect.stringContaining(": the rollup is built anew"),
  ]);
  await expectStored(knex, "3");
});
