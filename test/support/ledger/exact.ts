/** Makes calls, and expects every figure of the responses to be the sum of a ledger's rows. */
import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import type { Read } from "../../../src/db/query.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { formatSums } from "../../../src/rollup/sums.ts";
import { recordStatements, type StatementName } from "../statements.ts";
import {
  atTimeOfCall,
  breakdownOf,
  chargesOf,
  dailyOf,
  overviewOf,
  payoutsOf,
  providersOf,
} from "./call.ts";
import type { Ledger } from "./ledger.ts";
import {
  expectedBreakdown,
  expectedCharges,
  expectedDaily,
  expectedOverview,
  expectedPayouts,
  expectedRow,
} from "./oracle.ts";
import { type RequestedPeriod, resolvedForDays } from "./periods.ts";

/** A question about a period. */
type PeriodQuestion = [ledger: Ledger, now: string, period: RequestedPeriod, timeZone?: string];

/** A service whose responses are compared. */
export interface ExactService {
  /** An overview, and then the payouts. Resolves to the statements of the overview. */
  overview(ledger: Ledger, now: string): Promise<StatementName[]>;
  /** A breakdown, and then its days. Resolves to the statements of the breakdown. */
  breakdown(...question: PeriodQuestion): Promise<StatementName[]>;
  /** The provider's row among all providers, of which there must be one with its number. */
  row(...question: PeriodQuestion): Promise<void>;
  /** The charges, in pages of a size. */
  charges(pageSize: number, ...question: PeriodQuestion): Promise<void>;
}

/** Compares two answers. Vitest, which tells differences, takes several times as long to find that there are none. */
function same(response: unknown, expected: unknown, context: string): void {
  if (!isDeepStrictEqual(response, expected)) expect(response, context).toEqual(expected);
}

/**
 * Creates a service with an empty cache, whose rollups must not seem damaged.
 *
 * @param read its queries, whose *now* is that of the call
 */
export function createExactService(read: Read): ExactService {
  const recorded = recordStatements(atTimeOfCall(read));
  const service = createRevenueService(recorded.read, {
    reportDamage: (_provider, { at, parts, total }) => {
      throw new Error(`false alarm at ${at}: ${formatSums(parts)} and ${formatSums(total)}`);
    },
  });
  const contextOf = (...[ledger, now, { startDate, endDate, resolved }, zone]: PeriodQuestion) =>
    JSON.stringify([String(ledger.provider), now, startDate, endDate, resolved, zone]);
  return {
    async overview(ledger, now) {
      const response = await overviewOf(service, ledger.provider, now);
      const statements = recorded.takeNames();
      const context = `overview of ${ledger.provider} at ${now} by ${statements}`;
      same(response, expectedOverview(ledger, now), context);
      const payouts = await payoutsOf(service, ledger.provider, { pageSize: 1_000 }, now);
      same(payouts, { payouts: expectedPayouts(ledger), nextPageToken: "" }, context);
      recorded.takeNames();
      return statements;
    },
    async breakdown(ledger, now, period, zone = "UTC") {
      const call = [service, ledger.provider, now, period.startDate, period.endDate, zone] as const;
      const response = await breakdownOf(...call);
      const statements = recorded.takeNames();
      const context = `${contextOf(ledger, now, period, zone)} by ${statements}`;
      same(response, expectedBreakdown(ledger, period.resolved, now, zone), context);
      const days = expectedDaily(ledger, resolvedForDays(period, zone), now, zone);
      same(await dailyOf(...call), days, context);
      recorded.takeNames();
      return statements;
    },
    async row(ledger, now, period, timeZone = "UTC") {
      const { startDate, endDate, resolved } = period;
      const request = { startDate, endDate, timeZone, pageSize: 1_000 };
      const response = await providersOf(service, request, now);
      const row = expect.objectContaining(expectedRow(ledger, resolved, now));
      const context = contextOf(ledger, now, period, timeZone);
      expect(response, context).toHaveProperty("providers", expect.arrayContaining([row]));
      recorded.takeNames();
    },
    async charges(pageSize, ledger, now, period, timeZone = "UTC") {
      const { startDate, endDate, resolved } = period;
      const { start, end } = resolved;
      const context = contextOf(ledger, now, period, timeZone);
      const expected = expectedCharges(ledger, resolved, now).map((charge) =>
        expect.objectContaining(charge),
      );
      for (let [from, pageToken] = [0, ""]; from === 0 || pageToken !== ""; from += pageSize) {
        const request = { startDate, endDate, timeZone, pageSize, pageToken };
        const page = (await chargesOf(service, ledger.provider, request, now)) as {
          nextPageToken: string;
        };
        expect(page, `${from} of ${context}`).toMatchObject({
          charges: expected.slice(from, from + pageSize),
          startDate: start.replace(".000Z", "Z"),
          endDate: (start > now || end < now ? end : now).replace(".000Z", "Z"),
          timeZone,
        });
        ({ nextPageToken: pageToken } = page);
        expect(pageToken !== "", context).toBe(from + pageSize < expected.length);
      }
      recorded.takeNames();
    },
  };
}
