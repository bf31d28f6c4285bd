/**
 * For random ledgers and periods, every figure equals the sum that the oracle computes from the rows:
 * without a rollup, with one of any age and any leaves, and with cached sums.
 */
import fc from "fast-check";
import { expect, it, onTestFinished } from "vitest";
import { toDatetime } from "../../../src/db/datetime.ts";
import { createRead } from "../../../src/db/query.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { ALL_LENGTHS } from "../../../src/rollup/stretches.ts";
import { testPool } from "../../support/database.ts";
import { startDatabaseProxy } from "../../support/database-proxy.ts";
import { anyLedger } from "../../support/ledger/any-ledger.ts";
import { atTimeOfCall, overviewOf } from "../../support/ledger/call.ts";
import { createExactService } from "../../support/ledger/exact.ts";
import { anyNow, landmarks, shift } from "../../support/ledger/instants.ts";
import { emptyLedger, type Ledger } from "../../support/ledger/ledger.ts";
import { anyPeriod, requested, resolvedAt } from "../../support/ledger/periods.ts";
import { storeLedgers } from "../../support/ledger/store.ts";
import { SOAK } from "../../support/soak.ts";
import { databaseOfFile, deleteRows, ROLLUPS } from "../file-database.ts";
import { build, refreshTo } from "../rollup/write/built.ts";

const { knex, url } = await databaseOfFile();
const createService = () => createExactService(createRead(knex));

it("sums above 2^53 cents are exact to the cent", async () => {
  // 200 charges of the largest amount that the column holds, and one of 5 cents.
  const server = { id: 1n, uuid: "1", name: "", type: "", status: "", price: 1n, deletedAt: null };
  const charge = { server: 1n, instance: null, at: "2026-11-20T00:00:00.000Z" };
  const amounts = [...Array<bigint>(200).fill(10n ** 14n - 1n), 5n];
  const charges = amounts.map((gross) => ({ ...charge, gross }));
  const ledger: Ledger = { ...emptyLedger(1n), servers: [server], charges };
  const now = "2026-11-20T09:30:00.123Z";
  await storeLedgers(knex, [ledger]);
  await createService().breakdown(ledger, now, requested("", "", now));
  const service = createRevenueService(atTimeOfCall(createRead(knex)));
  expect(await overviewOf(service, 1n, now)).toMatchObject({
    summary: { grossRevenueYTD: { value: "199999999999998.05" } },
    serverRevenue: [{ totalHours: { value: "1999999999999980500.00" } }],
  });
});

const DAY = 86_400_000;
/** Rows were recorded at `now` and every fifth day of the month before it. So lie the watermarks. */
const recordedAt = (now: string, daysAgo: number) => toDatetime(Date.parse(now) - DAY * daysAgo);

/** Ids that a double cannot represent exactly. */
const PROVIDERS = [2n ** 53n + 1n, 2n ** 64n - 1n] as const;
/** A provider without rows. */
const EMPTY = emptyLedger(2n ** 53n);
/** One whose rows are older than every rollup of it: from the second call on, its sums are cached. */
const coveredAt = (now: string, provider = 7n): Ledger => ({
  ...emptyLedger(provider),
  charges: [31, 45, 200].map((days) => {
    return { server: 1n, instance: null, at: shift(now, -days * DAY), gross: BigInt(days) };
  }),
});

/** Some periods, and ledgers whose instants lie near the edges of these and of the calendar. */
const anySituation = anyNow.chain((now) =>
  fc.array(anyPeriod(now), { minLength: 3, maxLength: 3 }).chain((periods) => {
    const ends = periods.flatMap(({ resolved }) => [resolved.start, resolved.end]);
    const marks = [...landmarks(now), ...ends, ...ends];
    const ledgers = fc.tuple(...PROVIDERS.map((provider) => anyLedger(provider, marks)));
    return fc.record({ now: fc.constant(now), periods: fc.constant(periods), ledgers });
  }),
);

const anyDays = fc.constantFrom(0, 5, 10, 15, 20, 25, 30);
/** The watermarks of a build and of the refreshes after it, and the leaves. */
const anyRollup = fc.record({
  leaf: fc.constantFrom(...ALL_LENGTHS),
  built: anyDays,
  refreshed: fc.array(anyDays, { maxLength: 2 }).map((days) => days.sort((a, b) => b - a)),
});

it("every figure is the sum over the provider's own rows, for any ledger, period and rollup", () =>
  fc.assert(
    fc.asyncProperty(anySituation, anyRollup, async ({ now, periods, ledgers }, rollup) => {
      const service = createService();
      const covered = coveredAt(now);
      const all = [...ledgers, EMPTY, covered];
      await storeLedgers(knex, all);
      const recorded = knex.raw("? - INTERVAL 5 * (id * 7919 % 7) DAY", recordedAt(now, 0));
      await knex("charges").update({ recorded_at: recorded });
      await knex("rentals").update({ updated_at: recorded });
      const own = knex("charges").where({ provider_id: String(covered.provider) });
      await own.update({ recorded_at: recordedAt(now, 31) });
      await deleteRows(knex, ROLLUPS);

      const compare = async (ledgers: readonly Ledger[], at: string, asked = periods) => {
        const compareOne = async (ledger: Ledger) => {
          await service.overview(ledger, at);
          for (const period of asked.flatMap((period) => resolvedAt(period, at) ?? [])) {
            await service.breakdown(ledger, at, period);
          }
        };
        await Promise.all(ledgers.map(compareOne));
        // The list asks for each provider anyway.
        for (const [nth, period] of asked.entries()) {
          const of = resolvedAt(period, at);
          if (of !== undefined) await service.row(ledgers[nth] ?? EMPTY, at, of);
        }
      };
      const compareRolledUp = async () => {
        await compare([...ledgers, covered], now);
        // What is cached serves a later instant.
        await compare([...ledgers, covered], shift(now, 1), periods.slice(0, 1));
        const whole = requested("0001-01-01T00:00:00.000Z", now, now);
        await service.breakdown(covered, now, whole);
        const statements = await service.breakdown(covered, now, whole);
        expect(statements).toEqual(["facts", "cachedBreakdown"]);
        expect(await service.overview(covered, now)).toEqual(["facts", "cachedOverview"]);
      };

      await compare(all, now);
      for (const period of periods) {
        for (const [nth, pageSize] of [2, 7, 50].entries()) {
          await service.charges(pageSize, all[nth] ?? EMPTY, now, period);
        }
      }
      const rolledUp = [...ledgers, covered].map(({ provider }) => String(provider));
      for (const provider of rolledUp) {
        await build(knex, provider, recordedAt(now, rollup.built), rollup.leaf);
      }
      await compareRolledUp();
      for (const days of rollup.refreshed) {
        for (const provider of rolledUp) await refreshTo(knex, provider, recordedAt(now, days));
        await compareRolledUp();
      }
    }),
    { numRuns: 5 * SOAK },
  ));

it("a server that calls itself Vitess gets statements as text, and every figure is the same", async () => {
  const [asked, answer] = ["SELECT @@version", "SELECT 'Vitess' "];
  const proxy = await startDatabaseProxy(url, (sent) => {
    if (sent.includes(asked)) sent.write(answer, sent.indexOf(asked));
    return false;
  });
  const session = testPool(proxy.url, { maxConnections: 1 });
  onTestFinished(() => session.destroy().then(proxy.close));
  const now = "2026-01-20T09:30:00.123Z";
  const service = createExactService(createRead(session));
  // As doubles, these ids are one.
  const [ledger, other] = [coveredAt(now, 2n ** 64n - 1n), coveredAt(now, 2n ** 64n - 2n)];
  await storeLedgers(knex, [ledger, other]);
  await deleteRows(knex, ROLLUPS);
  for (const isRolledUp of [false, true]) {
    if (isRolledUp) await build(knex, String(ledger.provider), recordedAt(now, 1));
    await service.overview(ledger, now);
    for (const start of ["", "2025-06-11T22:00:00.000Z"]) {
      const period = requested(start, now, now);
      await service.breakdown(ledger, now, period, "Asia/Kolkata");
      await service.charges(2, ledger, now, period);
      await service.row(ledger, now, period);
    }
  }
  const [prepared] = await session.raw("SHOW SESSION STATUS LIKE 'Com_stmt_prepare'");
  expect(prepared).toMatchObject([{ Value: "0" }]);
});
