/** Which slice of a rollup a check compares, and when the next one is due. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { fromDatetime } from "../../../../src/db/datetime.ts";
import { TABLES } from "../../../../src/rollup/tables.ts";
import { END } from "../../../../src/rollup/timeline.ts";
import { checkSlice } from "../../../../src/rollup/write/check.ts";
import type { Difference } from "../../../../src/rollup/write/difference.ts";
import { rollUp } from "../../../../src/rollup/write/run.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { build, charge } from "./built.ts";

const PERIOD = 86_400_000;
/** A slice has 20,000 charges, so with segments of this size it is a single one. */
const SIZE = 20_000;
const NOW = fromDatetime("2026-02-01 00:00:00.000");
/** The days of three charges, each of which is a segment: the second begins a month. */
const DAYS = ["2025-09-05", "2025-10-01", "2025-10-06"];

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await database.knex("providers").insert({ id: 1, name: "provider" });
});
beforeEach(async () => {
  for (const table of ["charges", ...Object.values(TABLES)]) await database.knex(table).del();
  await database
    .knex("charges")
    .insert(DAYS.map((day) => charge(`${day} 00:00:00.000`, "2025-12-01 00:00:00.000")));
  await build(database.knex, "1", "2026-01-20 12:00:00.000", 1);
});
afterAll(() => database.drop());

const state = () => database.knex(TABLES.state).first();
const dueIn = async () => (fromDatetime((await state()).check_at) - NOW) / PERIOD;
const breakAll = () =>
  database.knex("charges").insert(
    DAYS.map((day) => ({
      ...charge(`${day} 00:00:00.000`, "2025-12-01 00:00:00.000"),
      server_id: 2,
    })),
  );

async function check(now = NOW) {
  const found: Difference[] = [];
  const result = await checkSlice(database.knex, "1", {
    ...{ now, size: SIZE, period: PERIOD },
    repaired: (difference) => found.push(difference),
  });
  return { result, found: found.map(({ to, cause }) => [to.slice(0, 10), cause]) };
}

it("slices are compared in turn, one in each part of the period, and repaired", async () => {
  const segments = await database.knex(TABLES.checkpoints).orderBy("at").pluck("at");
  expect(segments).toHaveLength(3);
  await breakAll();
  await database.knex(TABLES.state).update({ check_at: "2026-02-01 00:00:00.000" });
  const found: unknown[] = [];
  for (let turn = 1; turn <= 3; turn++) {
    const checked = await check();
    expect(checked.result).toBe("done");
    found.push(...checked.found);
    expect(found).toHaveLength(turn);
    expect(await dueIn()).toBeGreaterThan(0.9 / 3 - 0.01);
    expect(await dueIn()).toBeLessThan(1 / 3 + 0.01);
  }
  expect(found).toEqual(segments.map((at: string) => [at.slice(0, 10), "late commit"]));
  expect((await state()).check_from).toBe("0001-01-01 00:00:00.000");
});

it.each([
  ["half a period", "2026-01-31 12:00:00.000", 2],
  ["years", "1000-01-01 00:00:00.000", 3],
  ["a time that was set for a longer period", "2026-03-01 00:00:00.000", 3],
])("after %s, as many slices are due as would have been compared", async (_, checkAt, slices) => {
  await database.knex(TABLES.state).update({ check_at: checkAt });
  let count = 1;
  while ((await check()).result === "more") count++;
  expect(count).toBe(slices);
  expect(await dueIn()).toBeGreaterThan(0);
});

it("a repair counts as a revision, and a check without a difference does not", async () => {
  const before = await state();
  await check();
  expect(await state()).toMatchObject({ revision: before.revision, cut: before.cut });
  await database.knex(TABLES.state).update({ check_from: before.check_from });
  await breakAll();
  await check();
  expect(await state()).toMatchObject({ revision: before.revision + 1, cut: before.cut });
});

it("nothing is written if the rollup changed since the comparison", async () => {
  await breakAll();
  const holder = await database.knex.transaction();
  await holder(TABLES.state).where({ provider_id: 1 }).increment("revision");
  const checking = check();
  const [first] = await Promise.all([checking, holder.commit()]);
  expect(first.found.length).toBeLessThanOrEqual(1);
  const [sum] = await database.knex(TABLES.checkpoints).where({ at: END }).pluck("gross");
  expect(sum).toBe(first.found.length === 0 ? "3.00" : "4.00");
});

it("a run compares each slice once, also with a period of a second", async () => {
  // With segments of 250 charges, a slice has 80 of them.
  await database.knex.raw(
    `INSERT INTO charges (provider_id, server_id, charged_at, recorded_at, gross) VALUES ${Array.from(
      { length: 200 },
      (_, n) => `(1, 1, TIMESTAMPADD(HOUR, ${n}, '2025-10-01'), '2025-12-01', 1)`,
    )}`,
  );
  const { generation } = await state();
  await build(database.knex, "1", "2026-01-20 12:00:00.000", 1);
  expect((await state()).generation).toBe(generation + 1);
  await breakAll();
  for (const repairs of [3, 0]) {
    expect(await rollUp(database.knex, { margin: 0, checkPeriod: 1_000 })).toMatchObject({
      repairs,
    });
  }
});

it("a run checks a few rollups even if none is due", async () => {
  await breakAll();
  await database.knex.raw(
    `UPDATE ${TABLES.state} SET check_at = UTC_TIMESTAMP(3) + INTERVAL 20 HOUR`,
  );
  const { repairs, checked } = await rollUp(database.knex, { margin: 0 });
  expect({ repairs, checked }).toEqual({ repairs: 3, checked: 1 });
});
