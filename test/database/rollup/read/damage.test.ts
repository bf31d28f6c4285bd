/** An answer compares the sums of owners with those of the provider as a whole, and uses neither if they differ. */

import { beforeEach, describe, expect, it } from "vitest";
import { FIRST_INSTANT } from "../../../../src/db/datetime.ts";
import { createRead } from "../../../../src/db/query.ts";
import { createRevenueService } from "../../../../src/revenue/service.ts";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import {
  type BoundarySums,
  compareSums,
  createLedgerReads,
} from "../../../../src/rollup/read/damage.ts";
import { NO_SUMS, SUM_NAMES } from "../../../../src/rollup/sums.ts";
import type { Repair } from "../../../../src/rollup/write/repair.ts";
import { expectedBreakdown } from "../../../support/ledger/breakdown-oracle.ts";
import { atTimeOfCall, breakdownOf, overviewOf } from "../../../support/ledger/call.ts";
import { expectedOverview } from "../../../support/ledger/overview-oracle.ts";
import { requested } from "../../../support/ledger/periods.ts";
import { readLedger } from "../../../support/ledger/store.ts";
import { rollUp } from "../../../support/rollup/roll-up.ts";
import { SOAK } from "../../../support/soak.ts";
import { build, charge, differences } from "../write/built.ts";
import { createSmallDatabase, minute, NOW } from "./compared.ts";

const knex = await createSmallDatabase();
const reported: BoundarySums[] = [];
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
    {
      provider_id: 1,
      server_id: 1,
      started_at: "2026-01-04",
      ended_at: "2026-03-06",
      updated_at: minute(1),
    },
    {
      provider_id: 1,
      server_id: 2,
      started_at: "2026-11-10",
      ended_at: null,
      updated_at: minute(1),
    },
  ]);
  await build(knex, "1", minute(2));
});

/** Calls a new service, and expects every figure to be right. */
async function expectExact([start, end]: readonly [string, string]): Promise<void> {
  const ledger = await knex.transaction((reader) => readLedger(reader, "1"));
  const service = createService();
  expect(await overviewOf(service, 1n, NOW)).toEqual(expectedOverview(ledger, NOW));
  expect(await breakdownOf(service, 1n, NOW, start, end)).toEqual(
    expectedBreakdown(ledger, requested(start, end, NOW).resolved, NOW),
  );
}

it.each(PERIODS)("a rollup as it was built is used: %s to %s", async (...period) => {
  await expectExact(period);
  expect(reported).toEqual([]);
});

type SumsKey = Record<"total" | "at" | "server_id" | "instance_id", string | number>;

it("figures are exact whatever row at a boundary is changed or lost, and each answer that reads it tells", async () => {
  const rows: SumsKey[] = await knex(TABLES.sums).select("total", "at", "server_id", "instance_id");
  let told = 0;
  for (let nth = 0; nth < 150 * SOAK; nth++) {
    const { total, at, server_id, instance_id } = rows[nth % rows.length] as SumsKey;
    const row = knex(TABLES.sums).where({ total, at, server_id, instance_id });
    const [before] = await row.clone();
    // Months read sums of the provider as a whole that nothing is compared with, but the last ones.
    const last = rows.findLast((each) => each.total === total)?.at;
    if (Number(total) === 1 && at !== last) continue;
    const column = SUM_NAMES[nth % SUM_NAMES.length] as string;
    if (nth % 5 === 4) await row.clone().del();
    else await row.clone().increment(column, (nth % 7) - 3 || 1);
    reported.length = 0;
    await expectExact(PERIODS[nth % PERIODS.length] ?? ["", ""]);
    told += reported.length;
    await row.clone().del();
    await knex(TABLES.sums).insert(before);
  }
  expect(told).toBeGreaterThan(20 * SOAK);
});

it("the sums of a damaged rollup are not cached", async () => {
  const service = createService();
  await knex(TABLES.sums).where({ total: 1 }).increment("gross", 1);
  for (let nth = 0; nth < 2; nth++) await breakdownOf(service, 1n, NOW, "", "");
  expect(reported).toHaveLength(2);
  for (const { owners, total } of reported) expect(total.gross - owners.gross).toBe(100n);
});

it("a run builds a damaged rollup again, once, and tells why", async () => {
  await knex(TABLES.sums).where({ total: 0, server_id: 2 }).del();
  expect(await differences(knex)).toContain(
    "provider 1: the sums of the rollup's owners and of the provider as a whole differ",
  );
  const repairs: Repair[] = [];
  const run = () => rollUp(knex, { margin: 0, repaired: (repair) => repairs.push(repair) });
  await run();
  expect(repairs).toMatchObject([{ provider: "1", cause: "damaged rollup" }]);
  await run();
  expect(repairs).toHaveLength(1);
  expect(await differences(knex)).toEqual([]);
  await expectExact(["", ""]);
  expect(reported).toEqual([]);
});

it("a lost boundary at the end of a month is found by the check, and the rollup built again", async () => {
  await knex(TABLES.sums).where({ total: 1, at: "2026-02-01 00:00:00.000" }).del();
  expect(await differences(knex)).toEqual([
    "provider 1: the rollup lacks the sums at 2026-02-01 00:00:00.000",
  ]);
  const repairs: Repair[] = [];
  await rollUp(knex, { margin: 0, repaired: (repair) => repairs.push(repair) });
  expect(repairs).toMatchObject([{ cause: "damaged rollup" }]);
  expect(await differences(knex)).toEqual([]);
});

describe("reads of the ledger", () => {
  const damage: BoundarySums = {
    at: FIRST_INSTANT,
    owners: NO_SUMS,
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
