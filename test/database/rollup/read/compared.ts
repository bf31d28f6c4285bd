/** A small ledger, and services whose answers are compared with the sums of its rows. */
import type { Knex } from "knex";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { createRead, type Read } from "../../../../src/db/query.ts";
import { createRevenueService, type RevenueFunctions } from "../../../../src/revenue/service.ts";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { expectedBreakdown } from "../../../support/ledger/breakdown-oracle.ts";
import { atTimeOfCall, breakdownOf, dailyOf, overviewOf } from "../../../support/ledger/call.ts";
import { expectedDaily } from "../../../support/ledger/daily-oracle.ts";
import { expectedOverview } from "../../../support/ledger/overview-oracle.ts";
import { readLedger } from "../../../support/rollup/stored.ts";
import { recordStatements, type StatementName } from "../../../support/statements.ts";
import { charge } from "../write/built.ts";

/** The time of calls. */
export const NOW = "2026-11-20T09:30:00.000Z";
/** A recording time, or a watermark. */
export const minute = (number: number) => `2026-11-20 08:${String(number).padStart(2, "0")}:00.000`;

/** The ends of a period, ISO 8601. */
export type Period = readonly [start: string, end: string];

/**
 * A service that asks for provider 1. Each answer is compared with the sums of the rows; what is
 * resolved to are the statements that it took.
 */
export interface ComparedService {
  overview(now?: string): Promise<StatementName[]>;
  breakdown(period: Period, now?: string): Promise<StatementName[]>;
}

/** Creates a service with an empty cache. `hostIsAhead`: how far the clock of its host is wrong, in ms. */
export function createComparedService(
  database: Knex,
  { read = createRead(database), hostIsAhead = 0 }: { read?: Read; hostIsAhead?: number } = {},
): ComparedService {
  const recorded = recordStatements(atTimeOfCall(read));
  const service = withWrongClock(createRevenueService(recorded.read), hostIsAhead);
  const ledger = () => database.transaction((reader) => readLedger(reader, "1"));
  return {
    async overview(now = NOW) {
      const answer = await overviewOf(service, 1n, now);
      expect(answer).toEqual(expectedOverview(await ledger(), now));
      return recorded.takeNames();
    },
    async breakdown([start, end], now = NOW) {
      const answer = await breakdownOf(service, 1n, now, start, end);
      const period = {
        start: start || new Date(Date.parse(now) - 30 * 86_400_000).toISOString(),
        end: end || now,
      };
      const rows = await ledger();
      expect(answer).toEqual(expectedBreakdown(rows, period, now));
      const names = recorded.takeNames();
      const days = await dailyOf(service, 1n, now, start, end);
      expect(days).toEqual(expectedDaily(rows, period, now));
      recorded.takeNames();
      return names;
    },
  };
}

function withWrongClock(service: RevenueFunctions, ahead: number): RevenueFunctions {
  return {
    ...service,
    getOverview: (request, context) =>
      service.getOverview(request, { ...context, now: context.now + ahead }),
    getServerBreakdown: (request, context) =>
      service.getServerBreakdown(request, { ...context, now: context.now + ahead }),
  };
}

/**
 * Creates a database for the calling file. Before each test it has two servers of provider 1, of which
 * the second is deleted, and four charges, recorded in minute 1.
 */
export function createSmallDatabase(): { readonly knex: Knex } {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  beforeEach(async () => {
    const { knex } = database;
    for (const table of ["servers", "charges", "rentals", ...Object.values(TABLES)]) {
      await knex(table).del();
    }
    const server = { provider_id: 1, name: "server", status: "Active", price_per_hour: "1.00" };
    await knex("servers").insert([
      { ...server, id: 1, uuid: "1" },
      { ...server, id: 2, uuid: "2", deleted_at: "2026-01-01" },
    ]);
    await knex("charges").insert([
      charge("2025-12-31 23:59:59.999", minute(1), "7.00"),
      charge("2026-01-05 00:00:00.000", minute(1), "10.00"),
      charge("2026-03-05 00:00:00.000", minute(1), "20.00"),
      charge("2026-11-10 00:00:00.000", minute(1), "70.00"),
    ]);
  });
  afterAll(() => database.drop());
  return {
    get knex() {
      return database.knex;
    },
  };
}
