/** A service with a cache, on a small ledger that is easy to add up. */
import type { Knex } from "knex";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { createRead } from "../../../../src/db/query.ts";
import { createRevenueService, type RevenueFunctions } from "../../../../src/revenue/service.ts";
import { TABLES } from "../../../../src/rollup/tables.ts";
import { END } from "../../../../src/rollup/timeline.ts";
import { refresh } from "../../../../src/rollup/write/refresh.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { breakdownOf, overviewOf } from "../../../support/ledger/call.ts";
import { recordStatements, type StatementName } from "../../../support/statements.ts";
import { build, rollupOf } from "../write/built.ts";

/** The default `now` of a call. */
export const NOW = "2026-11-20T09:30:00.000Z";

/** A recording time, or a watermark. */
export const minute = (number: number) => `2026-11-20 08:${String(number).padStart(2, "0")}:00.000`;

/** The segment size, in charges. */
const SIZE = 1;

const LEDGER = ["servers", "charges", "rentals"];

/** A row of `charges`; by default of provider 1's server, recorded in minute 5. */
export function charge(at: string, gross: string, { provider = 1, recorded = 5, server = 1 } = {}) {
  return {
    provider_id: provider,
    server_id: server,
    charged_at: at,
    recorded_at: minute(recorded),
    gross,
  };
}

/**
 * Stores two providers with a server each. Their gross of 2026 is 100.00 (provider 1) and 3.00
 * (provider 2). Provider 1 also has a deleted server without charges.
 */
async function storeSmallLedger(database: Knex): Promise<void> {
  for (const table of [...LEDGER, ...Object.values(TABLES)]) await database(table).del();
  const server = { name: "server", status: "Active", price_per_hour: "1.00" };
  await database("servers").insert([
    { ...server, provider_id: 1, id: 1, uuid: "1" },
    { ...server, provider_id: 1, id: 2, uuid: "2", deleted_at: "2026-01-01" },
    { ...server, provider_id: 2, id: 3, uuid: "3" },
  ]);
  const first = { recorded: 1 };
  await database("charges").insert([
    charge("2025-12-31 23:59:59.999", "7.00", first),
    charge("2026-01-05 00:00:00.000", "10.00", first),
    charge("2026-03-05 00:00:00.000", "20.00", first),
    charge("2026-11-10 00:00:00.000", "70.00", first),
    charge("2026-11-10 00:00:00.000", "3.00", { ...first, provider: 2, server: 3 }),
  ]);
}

/** Builds a provider's rollup up to a minute, as a new generation. */
export const rollUpTo = (database: Knex, number: number, provider = "1") =>
  build(database, provider, minute(number), SIZE);

/** Moves the watermark of provider 1's rollup forward to a minute. */
export async function refreshTo(database: Knex, number: number): Promise<void> {
  await refresh(database, [{ provider: "1", size: SIZE }], minute(number));
  expect(await rollupOf(database, "1")).toMatchObject({ watermark: minute(number) });
}

/**
 * Replaces the checkpoints of provider 1's rollup, except the last one, so that a test knows where
 * its segments lie. No row of the ledger may have an instance.
 */
export async function moveCheckpoints(database: Knex, instants: readonly string[]): Promise<void> {
  const state = await database(TABLES.state).where({ provider_id: 1 }).first();
  const { generation, cut } = state;
  const version = { provider_id: 1, generation };
  for (const table of [TABLES.checkpoints, TABLES.totals]) {
    await database(table).where(version).andWhere("at", "<", END).del();
  }
  for (const at of instants) {
    await database.raw(
      `INSERT INTO ${TABLES.totals}
         (provider_id, generation, at, server_id, instance_id, gross, charges, started, ended)
       SELECT 1, :generation, :at, server_id, 0, SUM(gross), SUM(charges), SUM(started), SUM(ended)
       FROM (SELECT server_id, gross, 1 AS charges, 0 AS started, 0 AS ended FROM charges
             WHERE provider_id = 1 AND charged_at < :at AND recorded_at <= :cut
             UNION ALL
             SELECT server_id, 0.00, 0, started_at < :at, ended_at < :at FROM rentals
             WHERE provider_id = 1 AND updated_at <= :cut AND ended_at <= :cut) AS ledger
       GROUP BY server_id`,
      { generation, at, cut },
    );
    const [sum] = await database(TABLES.totals)
      .where({ ...version, at })
      .sum("gross as gross");
    await database(TABLES.checkpoints).insert({ ...version, at, gross: sum?.gross ?? "0.00" });
  }
}

/** The provider that calls, and when. */
interface CallOptions {
  readonly provider?: bigint;
  readonly now?: string;
}
/** The period's edges, as request texts. */
type Period = readonly [start: string, end: string];

/** A response: the gross of the year or the period, and the statements that it took. */
interface Result {
  readonly gross: string;
  readonly statements: readonly StatementName[];
}

/** The service under test. */
export interface CachingService {
  overview(options?: CallOptions): Promise<Result>;
  breakdown(period: Period, options?: CallOptions): Promise<Result>;
}

/** Creates a service whose responses are compared with those of a service without a cache. */
function createComparedService(database: Knex): CachingService {
  const { read, takeNames } = recordStatements(createRead(database));
  const service = createRevenueService(read);
  async function compare<Response>(call: (service: RevenueFunctions) => Promise<Response>) {
    const response = await call(service);
    const statements = takeNames();
    expect(response).toEqual(await call(createRevenueService(createRead(database))));
    return { response, statements };
  }
  return {
    async overview({ provider = 1n, now = NOW } = {}) {
      const { response, statements } = await compare((service) =>
        overviewOf(service, provider, now),
      );
      const { summary } = response as { summary: { grossRevenueYTD: { value: string } } };
      return { gross: summary.grossRevenueYTD.value, statements };
    },
    async breakdown([start, end], { provider = 1n, now = NOW } = {}) {
      const { response, statements } = await compare((service) =>
        breakdownOf(service, provider, now, start, end),
      );
      const { totalRevenue } = response as { totalRevenue: { value: string } };
      return { gross: totalRevenue.value, statements };
    },
  };
}

/** The small ledger, and a service with an empty cache. */
export interface CachingFixture {
  readonly database: TestDatabase;
  readonly service: CachingService;
}

/** Creates a fixture that is reset before each test of the calling file. */
export function createCachingFixture(): CachingFixture {
  const fixture = {} as { database: TestDatabase; service: CachingService };
  beforeAll(async () => {
    fixture.database = await createDatabase();
  });
  beforeEach(async () => {
    await storeSmallLedger(fixture.database.knex);
    fixture.service = createComparedService(fixture.database.knex);
  });
  afterAll(() => fixture.database.drop());
  return fixture;
}
