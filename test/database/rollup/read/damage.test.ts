/** An answer compares the sums of owners, days and quarter hours with what they must be together, and uses none if they differ. */

import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { FIRST_INSTANT } from "../../../../src/db/datetime.ts";
import { createRead } from "../../../../src/db/query.ts";
import { createRevenueService } from "../../../../src/revenue/service.ts";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import {
  type ComparedSums,
  compareSums,
  createLedgerReads,
} from "../../../../src/rollup/read/damage.ts";
import { CHARGE_NAMES, NO_SUMS, SUM_NAMES } from "../../../../src/rollup/sums.ts";
import { type Checked, checkSlice } from "../../../../src/rollup/write/check.ts";
import { atTimeOfCall, breakdownOf, dailyOf, overviewOf } from "../../../support/ledger/call.ts";
import {
  expectedBreakdown,
  expectedDaily,
  expectedOverview,
} from "../../../support/ledger/oracle.ts";
import { requested, resolvedForDays } from "../../../support/ledger/periods.ts";
import { readLedger } from "../../../support/ledger/store.ts";
import { SOAK } from "../../../support/soak.ts";
import { build, charge, rental } from "../write/built.ts";
import { expectStored } from "../write/oracle.ts";
import { createSmallDatabase, minute, NOW } from "./compared.ts";

const knex = await createSmallDatabase();
const reported: ComparedSums[] = [];
const read = atTimeOfCall(createRead(knex));
const createService = () =>
  createRevenueService(read, { reportDamage: (_provider, damage) => reported.push(damage) });

const PERIODS = [
  ["", ""],
  ["2026-01-01T00:00:00.000Z", "2026-03-31T23:59:59.999Z"],
  ["2025-12-31T12:00:00.000Z", "2026-01-05T00:00:00.000Z"],
  ["2026-03-05T00:00:00.000Z", "2026-12-31T23:59:59.999Z"],
  ["0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"],
  ["2026-11-21T00:00:00.000Z", "2026-12-31T23:59:59.999Z"], // after now
] as const;

beforeEach(async () => {
  reported.length = 0;
  await knex("charges").insert([
    charge("2026-01-05 01:00:00.000", minute(1), "3.00", 2),
    charge("2026-03-06 00:00:00.000", minute(1), "-2.00", 2),
    charge("2026-11-19 23:00:00.000", minute(1), "4.00", 2),
    charge("2026-11-20 09:00:00.000", minute(5), "9.00"), // not covered
  ]);
  await knex("rentals").insert([
    rental("2026-01-04", "2026-03-06", minute(1)),
    rental("2026-11-10", null, minute(1), 2),
  ]);
  await build(knex, "1", minute(2));
});

const slot = async () => (await knex(TABLES.rollups).where({ building: 0 }).first()).slot;

/** Calls a new service, and expects every figure to be right. */
async function expectExact([start, end]: readonly [string, string]): Promise<void> {
  const ledger = await knex.transaction((reader) => readLedger(reader, "1"));
  const service = createService();
  expect(await overviewOf(service, 1n, NOW)).toEqual(expectedOverview(ledger, NOW));
  const period = requested(start, end, NOW);
  expect(await breakdownOf(service, 1n, NOW, start, end)).toEqual(
    expectedBreakdown(ledger, period.resolved, NOW),
  );
  for (const zone of ["UTC", "Asia/Kolkata", "America/New_York"]) {
    expect(await dailyOf(service, 1n, NOW, start, end, zone)).toEqual(
      expectedDaily(ledger, resolvedForDays(period, zone), NOW, zone),
    );
  }
}

/** The sums of an increment, and of its quarters. */
const CHARGED = ["", "_1", "_2", "_3", "_4"].flatMap((quarter) =>
  CHARGE_NAMES.map((name) => `${name}${quarter}`),
);
/** The columns that place a row, and those that are added up. */
const COLUMNS = [
  [TABLES.sums, ["total", "at", "server_id", "instance_id"], SUM_NAMES],
  [TABLES.increments, ["length", "part", "at"], CHARGED],
] as const;

/** A row of a table, a column of it that is changed by a number, or the row that is lost, and a question. */
const anyDamage = fc.record({
  table: fc.constantFrom(...COLUMNS),
  nth: fc.nat(),
  column: fc.option(fc.nat()),
  by: fc.constantFrom(-2, -1, 1, 3),
  period: fc.constantFrom(...PERIODS),
});

it("figures are exact whatever row is changed or lost, which answers that read it tell, and the check makes good", async () => {
  let told = 0;
  const property = fc.asyncProperty(anyDamage, async ({ table, nth, column, by, period }) => {
    const [name, place, columns] = table;
    const rows = await knex(name)
      .where({ slot: await slot() })
      .orderBy([...place]);
    const found = rows[nth % rows.length];
    const row = knex(name).where(
      Object.fromEntries([...place, "slot"].map((each) => [each, found[each]])),
    );
    const changed = columns.filter((each) => found[each] !== null);
    if (column === null) await row.del();
    else await row.increment(changed[column % changed.length] ?? "", by);
    reported.length = 0;
    await expectExact(period);
    told += reported.length;
    for (let checked: Checked = { more: true }; checked.more; ) {
      checked = await checkSlice(knex, "1", { period: 1 });
      if (checked.outdated !== undefined) await build(knex, "1", minute(2));
    }
    await expectStored(knex);
  });
  await fc.assert(property, { numRuns: 50 * SOAK });
  expect(told).toBeGreaterThan(5);
});

it("an owner's row that has become one of the provider as a whole is not taken for it", async () => {
  const [row] = await knex(TABLES.sums).where({ total: 0 }).orderBy("at", "desc").limit(1);
  const { at, server_id, instance_id } = row;
  await knex(TABLES.sums).where({ total: 0, at, server_id, instance_id }).update({ total: 1 });
  for (const period of PERIODS) {
    reported.length = 0;
    await expectExact(period);
    expect(reported.length).toBeGreaterThan(0);
  }
});

it("the sums of a damaged rollup are not cached", async () => {
  const service = createService();
  await knex(TABLES.sums).where({ total: 1 }).increment("gross", 1);
  for (let nth = 0; nth < 2; nth++) await breakdownOf(service, 1n, NOW, "", "");
  expect(reported).toHaveLength(2);
  for (const { parts, total } of reported) expect(total.gross - parts.gross).toBe(100n);
});

describe("reads of the ledger", () => {
  const damage: ComparedSums = {
    at: FIRST_INSTANT,
    parts: NO_SUMS,
    total: { ...NO_SUMS, charges: 2n },
  };

  it("is damaged if any sum differs", () => {
    for (const name of SUM_NAMES) {
      const one = { ...damage, total: { ...NO_SUMS, [name]: 1n } };
      expect(() => compareSums([{ ...damage, total: NO_SUMS }, one])).toThrow(
        expect.objectContaining({ damage: one }),
      );
    }
  });

  it("are made one at a time for a provider", async () => {
    const readLedgerOf = createLedgerReads(() => {});
    const log: string[] = [];
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const calls = gates.map((gate, nth) =>
      readLedgerOf("1", damage, async () => {
        log.push(`${nth} begins`);
        await gate.promise;
        log.push(`${nth} ends`);
      }),
    );
    await readLedgerOf("2", damage, async () => log.push("another provider's"));
    gates[1]?.resolve();
    gates[0]?.reject(new Error("failed"));
    await expect(calls[0]).rejects.toThrow("failed");
    await calls[1];
    expect(log).toEqual(["0 begins", "another provider's", "1 begins", "1 ends"]);
  });

  it("are refused if there are too many charges", async () => {
    const readLedgerOf = createLedgerReads(() => {}, 1n);
    const call = readLedgerOf("1", damage, async () => "read");
    await expect(call).rejects.toMatchObject({ kind: "databaseUnavailable" });
  });
});
