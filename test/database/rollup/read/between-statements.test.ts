/**
 * What happens between the statements of a breakdown: the rollup is built again, refreshed, or asked
 * for by somebody else. Answers are compared with the sums of the rows.
 */
import { expect, it } from "vitest";
import { toDatetime } from "../../../../src/db/datetime.ts";
import { createRead, type Read } from "../../../../src/db/query.ts";
import { createRevenueService } from "../../../../src/revenue/service.ts";
import { refresh } from "../../../../src/rollup/write/refresh.ts";
import { expectedBreakdown } from "../../../support/ledger/breakdown-oracle.ts";
import { breakdownOf } from "../../../support/ledger/call.ts";
import { readLedger } from "../../../support/rollup/stored.ts";
import { STATEMENTS, type StatementName } from "../../../support/statements.ts";
import { build } from "../write/built.ts";
import { charge, createCachingFixture, minute, NOW } from "./caching.ts";

const fixture = createCachingFixture();
const EARLY = { recorded: 1 };
const [CHECKPOINTS, FULL] = ["breakdownCheckpoints", "fullBreakdown"] as const;

/** Charges at the beginning of a day of June 2026, a millisecond after each other. */
const inJune = (day: number, count: number) =>
  Array.from({ length: count }, (_, ms) =>
    charge(toDatetime(Date.UTC(2026, 5, day, 0, 0, 0, ms)), "1.00", EARLY),
  );
const insert = (rows: readonly ReturnType<typeof charge>[]) =>
  fixture.database.knex.batchInsert("charges", [...rows], 1_000);
const buildWith = (size: number, until = minute(2)) =>
  build(fixture.database.knex, "1", until, size);

/** A service whose statements are recorded, and what a test does before and after them. */
function createObserved() {
  const read = createRead(fixture.database.knex);
  const names: StatementName[] = [];
  const before: Partial<Record<StatementName, () => Promise<unknown>>> = {};
  const after: typeof before = {};
  const observed: Read = async (sql, ...rest) => {
    const [name = CHECKPOINTS] = Object.keys(STATEMENTS).filter(
      (name) => STATEMENTS[name as StatementName].sql === sql,
    ) as StatementName[];
    names.push(name);
    await before[name]?.();
    const rows = await read(sql, ...rest);
    await after[name]?.();
    return rows;
  };
  const service = createRevenueService(observed);
  return {
    before,
    after,
    /** Compares an answer with the sums of the rows. Resolves to its statements. */
    async ask(start: string, end: string) {
      names.splice(0);
      const answer = await breakdownOf(service, 1n, NOW, start, end);
      const { knex } = fixture.database;
      const ledger = await knex.transaction((reader) => readLedger(reader, "1"));
      expect(answer).toEqual(expectedBreakdown(ledger, { start, end }, NOW));
      return names.splice(0);
    },
    answer: (start: string, end: string, now = NOW) => breakdownOf(service, 1n, now, start, end),
  };
}

const PERIOD = ["2026-06-03T12:00:00Z", "2026-06-05T12:00:00Z"] as const;

it("a build with other segments: the checkpoints are asked for again", async () => {
  await insert([1, 2, 3, 4, 5, 6, 7].flatMap((day) => inJune(day, 4)));
  await buildWith(2);
  const { ask, after } = createObserved();
  after[CHECKPOINTS] = async () => {
    delete after[CHECKPOINTS];
    await buildWith(15);
  };
  expect(await ask(...PERIOD)).toEqual([CHECKPOINTS, FULL, CHECKPOINTS, FULL]);
  expect(await ask(...PERIOD)).toEqual(["uncoveredBreakdown"]);
});

it("a build with other segments: the checkpoints that were cached are forgotten", async () => {
  await insert([1, 2, 3, 4, 5, 6, 7].flatMap((day) => inJune(day, 4)));
  await buildWith(2);
  const { ask } = createObserved();
  expect(await ask(...PERIOD)).toEqual([CHECKPOINTS, FULL]);
  expect(await ask("2026-06-02T12:00:00Z", "2026-06-06T12:00:00Z")).toEqual([FULL]);
  await buildWith(15);
  const others = ["2026-06-01T12:00:00Z", "2026-06-03T18:00:00Z"] as const;
  expect(await ask(...others)).toEqual([FULL, CHECKPOINTS, FULL]);
  expect(await ask("2026-06-02T12:00:00Z", "2026-06-06T12:00:00Z")).toEqual([FULL]);
});

it("a segment that was split: the checkpoints that were cached are forgotten", async () => {
  await insert([1, 2, 3, 4, 5, 6, 7].flatMap((day) => inJune(day, 4)));
  await buildWith(1_000);
  const { ask } = createObserved();
  expect(await ask(...PERIOD)).toEqual([CHECKPOINTS, FULL]);
  await insert([charge("2026-06-20 00:00:00.000", "1.00", { recorded: 3 })]);
  await refresh(fixture.database.knex, [{ provider: "1", size: 2 }], minute(4));
  const others = ["2026-06-02T12:00:00Z", "2026-06-03T06:00:00Z"] as const;
  expect(await ask(...others)).toEqual([FULL]); // from the last checkpoint, and not cached
  expect(await ask(...others)).toEqual([CHECKPOINTS, FULL]);
  expect(await ask(...others)).toEqual(["uncoveredBreakdown"]);
});

it("two builds with other segments: the last checkpoint is used, and nothing is cached", async () => {
  await insert([1, 2, 3, 4, 5, 6, 7].flatMap((day) => inJune(day, 4)));
  await buildWith(2);
  const { ask, after } = createObserved();
  const sizes = [15, 7];
  after[CHECKPOINTS] = async () => {
    const size = sizes.shift();
    if (size) await buildWith(size);
  };
  expect(await ask(...PERIOD)).toEqual([CHECKPOINTS, FULL, CHECKPOINTS, FULL, FULL]);
  expect(await ask(...PERIOD)).toEqual([CHECKPOINTS, FULL]);
  expect(await ask(...PERIOD)).toEqual(["uncoveredBreakdown"]);
});

it("the first build: nothing is cached that is made at the last checkpoint, but far from it", async () => {
  await insert([1, 2, 3, 4, 5, 6, 7].flatMap((day) => inJune(day, 4)));
  const { ask, after } = createObserved();
  after[CHECKPOINTS] = async () => {
    delete after[CHECKPOINTS];
    await buildWith(2);
  };
  expect(await ask(...PERIOD)).toEqual([CHECKPOINTS, FULL]);
  expect(await ask(...PERIOD)).toEqual([CHECKPOINTS, FULL]);
  expect(await ask(...PERIOD)).toEqual(["uncoveredBreakdown"]);
});

it("a build, and then a refresh that changes what lies before the next checkpoint", async () => {
  await insert([1, 2, 4].flatMap((day) => inJune(day, 3_000)));
  await insert([...inJune(10, 6_000), ...inJune(12, 1_000)]);
  await buildWith(3_100);
  const { ask, after } = createObserved();
  after[CHECKPOINTS] = async () => {
    delete after[CHECKPOINTS];
    await buildWith(7_000, minute(3));
  };
  const period = ["0001-01-01T00:00:00Z", "2026-06-02T12:00:00Z"] as const;
  await ask(...period);
  await insert([charge("2026-06-02 06:00:00.000", "1000000.00", { recorded: 4 })]);
  await refresh(fixture.database.knex, [{ provider: "1", size: 7_000 }], minute(5));
  await ask(...period);
});

/** Stores rentals that ended, builds the rollup, and writes them again without a change. */
async function writeAgain(size: number, ...periods: readonly (readonly [string, string])[]) {
  const { knex } = fixture.database;
  const rental = { provider_id: 1, server_id: 1, updated_at: minute(1) };
  await knex("rentals").insert(
    periods.map(([started_at, ended_at]) => ({ ...rental, started_at, ended_at })),
  );
  await buildWith(size);
  await knex("rentals").update({ updated_at: minute(30) });
}

it.each([
  ["starts after the period", "2026-06-05 20:00:00.000", "2026-06-05 21:00:00.000"],
  ["ended before the period", "2026-06-02 02:00:00.000", "2026-06-02 03:00:00.000"],
])("a rental that %s does not count, if it is written again", async (_, startedAt, endedAt) => {
  await insert([1, 2, 3, 4, 5, 6, 7].flatMap((day) => inJune(day, 4)));
  await writeAgain(7, [startedAt, endedAt]);
  const { ask } = createObserved();
  for (const hour of ["04", "12", "19"]) {
    await ask(`2026-06-02T${hour}:00:00Z`, `2026-06-05T${hour}:00:00Z`);
  }
});

it("a start that is made at a later checkpoint than the end: rentals written again count once", async () => {
  const { knex } = fixture.database;
  await knex("charges").del();
  await insert([...inJune(1, 3), charge("2026-04-01 00:00:00.000", "1.00", EARLY)]);
  await writeAgain(
    3,
    ["2026-06-05 00:00:00.000", "2026-06-06 00:00:00.000"],
    ["2026-06-20 00:00:00.000", "2026-06-21 00:00:00.000"],
  );
  const { ask, answer, before } = createObserved();
  const [start, end] = ["2026-06-09T00:00:00.001Z", "2026-06-12T00:00:00Z"];
  // In June, the last checkpoint is the nearest one; in November, it is that of June 1st.
  await answer(start, "2026-06-10T00:00:00Z", "2026-06-10T00:00:00Z");
  await insert([charge("2026-11-19 00:00:00.000", "1.00", { recorded: 3 })]);
  await refresh(knex, [{ provider: "1", size: 250 }], minute(4));
  // The start is made at the last checkpoint again, while another caller has the end made in June.
  before[FULL] = async () => {
    delete before[FULL];
    await answer("2026-06-02T00:00:00Z", end);
  };
  await answer(start, NOW);
  expect(await ask(start, end)).toEqual(["uncoveredBreakdown"]);
});
