/**
 * Compares responses of the service with the raw ledger of the same snapshot. The service reads
 * in a transaction of the test, which then reads the ledger. The service's cache outlives it.
 */
import fc from "fast-check";
import type { Knex } from "knex";
import { expect } from "vitest";
import type { Binding, Row } from "../../../src/db/query.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { TABLES } from "../../../src/rollup/coverage.ts";
import { expectedBreakdown } from "../ledger/breakdown-oracle.ts";
import { atTimeOfCall, breakdownOf, dailyOf, overviewOf } from "../ledger/call.ts";
import { expectedDaily } from "../ledger/daily-oracle.ts";
import { expectedOverview } from "../ledger/overview-oracle.ts";
import { anyPeriod, type RequestedPeriod } from "../ledger/periods.ts";
import { recordStatements, type StatementName } from "../statements.ts";
import { readLedger } from "./stored.ts";

const DAY = 86_400_000;

/** The result of a comparison that found no difference. */
export interface Compared {
  /** The number of responses. */
  readonly responses: number;
  /** The number of responses that used cached totals. */
  readonly cacheHits: number;
  /** Whether the first overview and the first breakdown used totals of an earlier snapshot. */
  readonly earlierSnapshot: { readonly overview: boolean; readonly breakdown: boolean };
  /** The number of responses for which the cached totals were outdated. */
  readonly outdated: number;
  /** The rollup's watermark; `undefined` if there is no rollup. */
  readonly watermark: string | undefined;
}

/**
 * Calls all RPCs, with periods of all shapes, and expects every figure to equal the sum of the raw
 * ledger in the same snapshot.
 */
export type Comparison = (provider: string, now?: string) => Promise<Compared>;

/** Creates the comparison of one service instance. Run one comparison at a time. */
export function createComparison(database: Knex): Comparison {
  let reader: Knex.Transaction | undefined;
  const { read, takeNames } = recordStatements(
    atTimeOfCall((sql, bindings) => readIn(reader, sql, bindings)),
  );
  const service = createRevenueService(read);

  /** Makes every call, and then once more in reverse order, so that the cache is used. */
  async function call(id: bigint, now: string, periods: readonly RequestedPeriod[]) {
    const calls: Call[] = [];
    const requests = [undefined, ...periods];
    for (const period of [...requests, ...requests.toReversed()]) {
      const response = period
        ? await breakdownOf(service, id, now, period.startDate, period.endDate)
        : await overviewOf(service, id, now);
      calls.push({ response, period, statements: takeNames() });
    }
    const days = [];
    for (const period of periods) {
      days.push({
        response: await dailyOf(service, id, now, period.startDate, period.endDate),
        period,
      });
      takeNames();
    }
    return { calls, days };
  }

  return async (provider, now = new Date().toISOString()) => {
    reader = await database.transaction(); // REPEATABLE READ, by the pool's default
    try {
      const periods = [...fixedPeriods(now), ...fc.sample(anyPeriod(now), 4)];
      const { calls, days } = await call(BigInt(provider), now, periods);
      const ledger = await readLedger(reader, provider);
      const rollup = await reader(TABLES.rollups)
        .where({ provider_id: provider, building: 0 })
        .first();
      const situation = `provider ${provider} at ${now}, watermark ${rollup?.watermark}`;
      for (const { response, period, statements } of calls) {
        const rpc = period ? `breakdown of ${JSON.stringify(period.resolved)}` : "overview";
        const expected = period
          ? expectedBreakdown(ledger, period.resolved, now)
          : expectedOverview(ledger, now);
        expect(response, `${rpc}, ${situation}, statements: ${statements}`).toEqual(expected);
      }
      for (const { response, period } of days) {
        const rpc = `days of ${JSON.stringify(period.resolved)}`;
        expect(response, `${rpc}, ${situation}`).toEqual(
          expectedDaily(ledger, period.resolved, now),
        );
      }
      const [overview, breakdown] = calls;
      return {
        responses: calls.length,
        cacheHits: calls.filter(usedCache).length,
        earlierSnapshot: { overview: usedCache(overview), breakdown: usedCache(breakdown) },
        outdated: calls.filter(({ statements }) => statements.length === 2).length,
        watermark: rollup?.watermark,
      };
    } finally {
      await reader.rollback();
    }
  };
}

/** Compares once, with an empty cache. */
export function expectExact(database: Knex, provider: string, now?: string): Promise<Compared> {
  return createComparison(database)(provider, now);
}

/** A call of an RPC: of GetOverview if it has no period. */
interface Call {
  readonly response: unknown;
  readonly period: RequestedPeriod | undefined;
  /** The statements that it ran. */
  readonly statements: readonly StatementName[];
}

const usedCache = (call: Call | undefined) =>
  call?.statements.length === 1 && call.statements[0]?.startsWith("uncovered") === true;

/** The service's `Read`, in a transaction. */
async function readIn(
  reader: Knex.Transaction | undefined,
  sql: string,
  bindings: readonly Binding[],
): Promise<Row[]> {
  if (reader === undefined) throw new Error("no comparison is running");
  const [rows] = await reader
    .raw<[Row[], unknown]>(sql, bindings as Knex.RawBinding[])
    .options({ rowsAsArray: true });
  return rows;
}

/** The default, all of time, the future, a day, a period with edges inside days, and an instant. */
function fixedPeriods(now: string): RequestedPeriod[] {
  const ago = (ms: number) => new Date(Date.parse(now) - ms).toISOString();
  const between = (start: string, end: string) => ({
    startDate: start,
    endDate: end,
    resolved: { start, end },
  });
  const day = ago(DAY * (fc.sample(fc.nat(800), 1)[0] ?? 0)).slice(0, 10);
  return [
    { startDate: "", endDate: "", resolved: { start: ago(30 * DAY), end: now } },
    between("0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"),
    between(ago(-1), "2999-12-31T23:59:59.999Z"),
    {
      startDate: day,
      endDate: day,
      resolved: { start: `${day}T00:00:00.000Z`, end: `${day}T23:59:59.999Z` },
    },
    between(ago(417 * DAY + 12_345_678), ago(3 * DAY + 7_654_321)),
    between(ago(2_000), ago(2_000)),
    between(ago(100 * DAY), ago(-1)),
  ];
}
