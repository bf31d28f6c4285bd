/** An answer compares the sums of owners, days and quarter hours with what they must be together, and uses none if they differ. */

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

/** A value of a column that is changed by a number, also where there was none. */
const add = (column: string, changed: number) => knex.raw("COALESCE(??, 0) + ?", [column, changed]);

it.each(COLUMNS)(
  "figures are exact whatever row of %s is changed or lost, and each answer that reads it tells",
  async (table, place, columns) => {
    const rows: Record<string, string>[] = await knex(table).select(...place);
    // Each column of each row, and the row itself: there are many, so other ones in turn.
    const all = rows.flatMap((row) => [...columns, undefined].map((column) => ({ row, column })));
    const step = SOAK > 1 ? 1 : table === TABLES.sums ? 5 : 3;
    let told = 0;
    for (let nth = 0; nth < all.length; nth += step) {
      const { row: key, column } = all[nth] as (typeof all)[number];
      const row = knex(table).where(key);
      const [before] = await row.clone();
      if (column === undefined) await row.clone().del();
      else await row.clone().update(column, add(column, (nth % 7) - 3 || 1));
      reported.length = 0;
      await expectExact(PERIODS[nth % PERIODS.length] ?? ["", ""]);
      told += reported.length;
      await row.clone().del();
      await knex(table).insert(before);
    }
    expect(told).toBeGreaterThan(10);
  },
);

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
