/**
 * For random ledgers and periods, every figure equals the sum that the oracles compute from the rows:
 * without a rollup, with one of any age and any leaves, and with cached sums.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { toDatetime } from "../../../src/db/datetime.ts";
import { createRead } from "../../../src/db/query.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { LEAVES } from "../../../src/rollup/leaves.ts";
import { anyLedger } from "../../support/ledger/any-ledger.ts";
import { atTimeOfCall, overviewOf } from "../../support/ledger/call.ts";
import { createExactService, type ExactService } from "../../support/ledger/exact.ts";
import { anyNow, landmarks, shift } from "../../support/ledger/instants.ts";
import { emptyLedger, type Ledger } from "../../support/ledger/ledger.ts";
import {
  anyPeriod,
  type RequestedPeriod,
  requested,
  resolvedAt,
} from "../../support/ledger/periods.ts";
import { storeLedgers } from "../../support/ledger/store.ts";
import { SOAK } from "../../support/soak.ts";
import type { StatementName } from "../../support/statements.ts";
import { databaseOfFile, deleteRows, ROLLUPS } from "../file-database.ts";
import { build, refreshTo } from "../rollup/write/built.ts";

const database = await databaseOfFile();

/** Ids that a double cannot represent exactly. */
const PROVIDERS = [2n ** 53n + 1n, 2n ** 64n - 1n] as const;

/** Four periods, and ledgers whose instants lie near the edges of these and of the calendar. */
const anySituation = anyNow.chain((now) =>
  fc.array(anyPeriod(now), { minLength: 4, maxLength: 4 }).chain((periods) => {
    const ends = periods.flatMap(({ resolved }) => [resolved.start, resolved.end]);
    const marks = [...landmarks(now), ...ends, ...ends];
    return fc.record({
      now: fc.constant(now),
      periods: fc.constant(periods),
      ledgers: fc.tuple(...PROVIDERS.map((provider) => anyLedger(provider, marks))),
    });
  }),
);

const createService = () => createExactService(createRead(database.knex));

/** Compares an overview, breakdowns and days with the sums of the rows. Resolves to the statements. */
async function expectExact(
  service: ExactService,
  ledger: Ledger,
  periods: readonly RequestedPeriod[],
  now: string,
): Promise<StatementName[]> {
  const statements = await service.overview(ledger, now);
  for (const period of periods.flatMap((period) => resolvedAt(period, now) ?? [])) {
    statements.push(...(await service.breakdown(ledger, now, period)));
    await service.row(ledger, now, period);
  }
  return statements;
}

it("sums above 2^53 cents are exact to the cent", async () => {
  // 200 charges of the largest amount that the column holds, and one of 5 cents.
  const ledger: Ledger = {
    ...emptyLedger(1n),
    servers: [
      { id: 1n, uuid: "1", name: "", type: "", status: "Active", price: 1n, deletedAt: null },
    ],
    charges: [...Array(200).fill(10n ** 14n - 1n), 5n].map((gross: bigint) => ({
      server: 1n,
      instance: null,
      gross,
      at: "2026-11-20T00:00:00.000Z",
    })),
  };
  const now = "2026-11-20T09:30:00.123Z";
  await storeLedgers(database.knex, [ledger]);
  await expectExact(createService(), ledger, [requested("", "", now)], now);
  const service = createRevenueService(atTimeOfCall(createRead(database.knex)));
  expect(await overviewOf(service, 1n, now)).toMatchObject({
    summary: { grossRevenueYTD: { value: "199999999999998.05" } },
    serverRevenue: [{ totalHours: { value: "1999999999999980500.00" } }],
  });
});

/** A provider without rows. */
const EMPTY = emptyLedger(2n ** 53n);

/** Rows were recorded at `now` and every fifth day of the month before it. So lie the watermarks. */
const DAYS = [0, 5, 10, 15, 20, 25, 30] as const;
const recordedAt = (now: string, daysAgo: number) =>
  toDatetime(Date.parse(now) - 86_400_000 * daysAgo);
const anyDays = fc.constantFrom(...DAYS);
/** The watermarks of a build and of the refreshes after it, and the leaves. */
const anyRollup = fc.record({
  leaf: fc.constantFrom(...LEAVES),
  built: anyDays,
  refreshed: fc.array(anyDays, { maxLength: 2 }).map((days) => days.sort((a, b) => b - a)),
});

/** When every call is made, in ms after `now`. */
const DELAYS = [0, 1];

it("every figure is the sum over the provider's own rows, for any ledger, period and rollup", async () => {
  let [statements, cached] = [0, 0];
  await fc.assert(
    fc.asyncProperty(anySituation, anyRollup, async ({ now, periods, ledgers }, rollup) => {
      const { knex } = database;
      const service = createService();
      const all = [...ledgers, EMPTY];
      await storeLedgers(knex, all);
      const recorded = knex.raw("? - INTERVAL 5 * (id * 7919 % 7) DAY", recordedAt(now, 0));
      await knex("charges").update({ recorded_at: recorded });
      await knex("rentals").update({ updated_at: recorded });
      await deleteRows(knex, ROLLUPS);

      const compare = () =>
        Promise.all(
          all.map(async (ledger) => {
            for (const ms of DELAYS) {
              const names = await expectExact(service, ledger, periods, shift(now, ms));
              statements += names.length;
              cached += names.filter((name) => name.startsWith("cached")).length;
            }
          }),
        );
      const { built, refreshed, leaf } = rollup;
      await compare();
      for (const { provider } of ledgers) {
        await build(knex, String(provider), recordedAt(now, built), leaf);
      }
      await compare();
      for (const days of refreshed) {
        for (const { provider } of ledgers) {
          await refreshTo(knex, String(provider), recordedAt(now, days));
        }
        await compare();
      }
    }),
    { numRuns: 6 * SOAK },
  );
  expect(cached / statements).toBeGreaterThan(0.02); // cached sums were used
});
