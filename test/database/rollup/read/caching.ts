/** A long-lived service on a small ledger whose figures one can add up in the head. */
import type { Knex } from "knex";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { createRead } from "../../../../src/db/query.ts";
import { createRevenueService, type RevenueFunctions } from "../../../../src/revenue/service.ts";
import { refresh } from "../../../../src/rollup/write/refresh.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { breakdownOf, overviewOf } from "../../../support/ledger/ask.ts";
import { recorded, type StatementName } from "../../../support/statements.ts";
import { build } from "../write/built.ts";

/** When is asked, where nothing else is said. */
export const NOW = "2026-11-20T09:30:00.000Z";

/** A minute in which something is recorded, or up to which a rollup goes. */
export const minute = (number: number) => `2026-11-20 08:${String(number).padStart(2, "0")}:00.000`;

/** So many charges between two checkpoints. */
const SIZE = 1;

const TABLES = [
  ...["servers", "charges", "rentals", "rollups"],
  ...["rollup_checkpoints", "rollup_figures", "rollup_months"],
];

/** A charge of provider 1's only server, recorded in minute 5 unless that is said otherwise. */
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
 * Two providers with a server each, whose charges until now, of 2026, are 100.00 of provider
 * 1 and 3.00 of provider 2; and provider 1 has a deleted server that was never charged for.
 */
async function storeSmallLedger(database: Knex): Promise<void> {
  for (const table of TABLES) await database(table).del();
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

/** Builds a provider's rollup up to a minute, anew where there is one. */
export const rollUpTo = (database: Knex, number: number, provider = "1") =>
  build(database, provider, minute(number), SIZE);

/** Moves the watermark of provider 1's rollup to a minute. */
export async function advanceTo(database: Knex, number: number): Promise<void> {
  const { outcome } = await refresh(database, "1", minute(number), SIZE);
  expect(outcome).toBe("advanced");
}

/** Whom is asked for, and when. */
interface Asked {
  readonly provider?: bigint;
  readonly now?: string;
}
/** Both ends, as a caller writes them. */
type Period = readonly [start: string, end: string];

/** What was answered: the gross of the year, or of the period; and what was asked for it. */
interface Told {
  readonly gross: string;
  readonly asked: readonly StatementName[];
}

export interface Caching {
  overview(asked?: Asked): Promise<Told>;
  breakdown(period: Period, asked?: Asked): Promise<Told>;
}

/** A service with a cache, each of whose answers is compared with that of one without. */
function remembering(database: Knex): Caching {
  const { read, taken } = recorded(createRead(database));
  const service = createRevenueService(read);
  async function both<Answer>(ask: (service: RevenueFunctions) => Promise<Answer>) {
    const answer = await ask(service);
    const asked = taken();
    expect(answer).toEqual(await ask(createRevenueService(createRead(database))));
    return { answer, asked };
  }
  return {
    async overview({ provider = 1n, now = NOW } = {}) {
      const { answer, asked } = await both((service) => overviewOf(service, provider, now));
      const { summary } = answer as { summary: { grossRevenueYTD: { value: string } } };
      return { gross: summary.grossRevenueYTD.value, asked };
    },
    async breakdown([start, end], { provider = 1n, now = NOW } = {}) {
      const { answer, asked } = await both((service) =>
        breakdownOf(service, provider, now, start, end),
      );
      const { totalRevenue } = answer as { totalRevenue: { value: string } };
      return { gross: totalRevenue.value, asked };
    },
  };
}

/** What the tests of a file stand on: the small ledger, and a service that knows nothing of it yet. */
export interface CachingFixture {
  readonly database: TestDatabase;
  readonly service: Caching;
}

/** Sets the fixture anew before each test of the file that calls this. */
export function createCachingFixture(): CachingFixture {
  const fixture = {} as { database: TestDatabase; service: Caching };
  beforeAll(async () => {
    fixture.database = await createDatabase();
  });
  beforeEach(async () => {
    await storeSmallLedger(fixture.database.knex);
    fixture.service = remembering(fixture.database.knex);
  });
  afterAll(() => fixture.database.drop());
  return fixture;
}
