/** The quarter hours of the provider as a whole: who has them, what days read of them, and what is found if one is lost. */
import { beforeEach, expect, it } from "vitest";
import { createRead } from "../../../../src/db/query.ts";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { checkSlice } from "../../../../src/rollup/write/check.ts";
import type { Repair } from "../../../../src/rollup/write/repair.ts";
import { createExactService } from "../../../support/ledger/exact.ts";
import { requested } from "../../../support/ledger/periods.ts";
import { readLedger } from "../../../support/ledger/store.ts";
import { rollUp } from "../../../support/rollup/roll-up.ts";
import { databaseOfFile, LEDGER } from "../../file-database.ts";
import { build, charge, DAY, differences } from "./built.ts";
import { expectStored } from "./oracle.ts";

const { knex } = await databaseOfFile(["providers", ...LEDGER]);
beforeEach(() => knex("providers").insert({ id: 1, name: "" }));

const NOW = "2026-11-20T09:30:00.000Z";
const RECORDED = "2026-11-01 00:00:00.000";
const pad = (part: number) => String(part).padStart(2, "0");

/** Adds so many charges to each of some days of October 2026, evenly. */
async function addCharges(count: number, days = [1]): Promise<void> {
  const at = (day: number, nth: number) => {
    const minute = Math.floor((nth * 1_440) / count);
    return `2026-10-${pad(day)} ${pad(Math.floor(minute / 60))}:${pad(minute % 60)}:00.000`;
  };
  const rows = days.flatMap((day) =>
    Array.from({ length: count }, (_, nth) => charge(at(day, nth), RECORDED)),
  );
  await knex.batchInsert("charges", rows, 1_000);
}

const current = () => knex(TABLES.rollups).where({ building: 0 }).first();
const run = (repairs: Repair[] = []) =>
  rollUp(knex, { margin: 0, checkPeriod: 1, repaired: (repair) => repairs.push(repair) });

it.each([
  ["four for each quarter of an hour", 384, "P1D"],
  ["more than four", 385, "PT15M"],
])("days of %s have %d rows", async (_, count, totalLeaf) => {
  await addCharges(count, [1, 3]);
  await run();
  expect((await current()).total_leaf).toBe(totalLeaf);
  await expectStored(knex);
});

it("a provider that has become twice as dense gets quarter hours with the next check", async () => {
  await addCharges(100);
  await run();
  expect((await current()).total_leaf).toBe("P1D");
  await addCharges(800, [2, 3, 4]);
  for (let nth = 0; nth < 3; nth++) await run();
  expect((await current()).total_leaf).toBe("PT15M");
  await expectStored(knex);
});

it.each([
  ["a quarter hour with rows", "2026-10-01 06:15:00.000"],
  ["one without", "2026-10-02 06:15:00.000"],
  ["the end of the month", "2026-11-01 00:00:00.000"],
])("%s that is lost is found by the check, and the rollup built again", async (_, at) => {
  await addCharges(20);
  await build(knex, "1", "2026-11-10 00:00:00.000", DAY, "PT15M");
  await knex(TABLES.sums).where({ total: 1, at }).del();
  expect(await differences(knex)).toContain(`provider 1: the rollup lacks the sums at ${at}`);
  const repairs: Repair[] = [];
  await run(repairs);
  expect(repairs).toMatchObject([{ cause: "damaged rollup" }]);
  expect(await differences(knex)).toEqual([]);
});

it("a ledger may begin in the middle of a day, and later one of days before", async () => {
  await knex("charges").insert([
    charge("2026-10-05 17:40:00.000", RECORDED),
    charge("2026-10-09 08:01:00.000", RECORDED),
  ]);
  await build(knex, "1", "2026-11-10 00:00:00.000", DAY, "PT15M");
  expect(await differences(knex)).toEqual([]);
  await expectStored(knex);
  await knex("charges").insert(charge("2026-10-01 10:00:00.000", "2026-11-11"));
  const repairs: Repair[] = [];
  for (let nth = 0; nth < 3; nth++) await run(repairs);
  expect((await current()).total_leaf).toBe("PT15M");
  expect(repairs).toEqual([]);
  expect(await differences(knex)).toEqual([]);
  await expectStored(knex);
});

it.each([DAY, "P2D", "PT5M"] as const)(
  "all slices of the check find leaves of %s right",
  async (leaf) => {
    await addCharges(12, [1, 2, 3, 9, 10, 30, 31]);
    await knex("charges").insert(charge("2026-11-05 12:00:00.000", "2026-11-06"));
    await build(knex, "1", "2026-11-10 00:00:00.000", leaf, "PT15M");
    const starts = new Set<string>();
    for (let nth = 0; nth < 80; nth++) {
      starts.add((await current()).next_from);
      const checked = await checkSlice(knex, "1", {
        period: 1,
        rows: 5,
        repaired: (repair) => expect(repair).toBeUndefined(),
      });
      expect(checked).toBeTypeOf("string");
    }
    expect(starts.size).toBeGreaterThan(3);
  },
);

it("late rows of long ago add to all later quarter hours, also to those of the next month", async () => {
  await addCharges(30, [1, 12, 25]);
  await knex("charges").insert(charge("2026-11-05 12:00:00.000", "2026-11-06"));
  await build(knex, "1", "2026-11-10 00:00:00.000", DAY, "PT15M");
  await knex("charges").insert([
    charge("2026-10-01 23:59:59.999", "2026-11-11", "-3.00"),
    charge("2026-10-05 12:07:00.000", "2026-11-11", "2.00"),
  ]);
  await run();
  expect((await current()).total_leaf).toBe("PT15M");
  await expectStored(knex);
  const service = createExactService(createRead(knex));
  const ledger = await knex.transaction((reader) => readLedger(reader, "1"));
  for (const zone of ["Asia/Kolkata", "Asia/Kathmandu", "America/New_York"]) {
    const period = requested("2026-09-20T00:00:00.000Z", "2026-11-02T00:00:00.000Z", NOW);
    await service.breakdown(ledger, NOW, period, zone);
  }
});
