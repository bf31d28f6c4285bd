/**
 * How many rows each statement reads when it is prepared, so that the plan is chosen without the
 * bindings and reused by the connection.
 */
import type { Knex } from "knex";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseDatabaseUrl } from "../../../../src/config.ts";
import { fromDatetime, toDatetime } from "../../../../src/db/datetime.ts";
import { createPool } from "../../../../src/db/pool.ts";
import { createRead } from "../../../../src/db/query.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { addBulk } from "../../../support/rollup/bulk.ts";
import {
  atPlaces,
  bindingsOf,
  cachedValues,
  STATEMENT_NAMES,
  STATEMENTS,
  type StatementName,
  type Values,
  valuesFor,
} from "../../../support/statements.ts";
import { build } from "./built.ts";

const DAY = 86_400_000;
const NOW = Date.now();
/** The segment size, in charges. */
const SIZE = 250;
const SIGNAL = new AbortController().signal;

let database: TestDatabase;
/** A pool of one connection, so that the session's counters count what is read through it. */
let session: Knex;
beforeAll(async () => {
  database = await createDatabase();
  session = createPool(parseDatabaseUrl(database.url), { maxConnections: 1 });
  const others = { servers: 10, instances: 10, charges: 4_000, rentals: 400 };
  await addBulk(database.knex, [
    { provider: 1, ...others },
    { provider: 2, servers: 20, instances: 40, charges: 50_000, rentals: 5_000 },
    { provider: 3, ...others },
  ]);
  for (const provider of ["1", "2", "3"]) {
    await build(database.knex, provider, toDatetime(NOW - 60_000), SIZE);
  }
  await database.knex.raw(
    "ANALYZE TABLE servers, instances, rentals, charges, rollups, rollup_checkpoints, rollup_figures, rollup_months",
  );
});
afterAll(async () => {
  await session.destroy();
  await database.drop();
});

/** The parameters of a provider's query, with a period of `days` that ended 20 days ago. */
function valuesOf(provider: string, days: number): Values {
  const month = (at: number) => `${toDatetime(at).slice(0, 7)}-01 00:00:00.000`;
  return {
    provider,
    now: toDatetime(NOW),
    firstMonth: month(NOW - 334 * DAY),
    nextMonth: month(NOW + 31 * DAY),
    start: toDatetime(NOW - (days + 20) * DAY),
    end: toDatetime(NOW - 20 * DAY),
  };
}

/** The number of rows that the session has read, including those of temporary tables. */
async function rowsRead(): Promise<number> {
  const [rows] = await session.raw("SHOW SESSION STATUS LIKE 'Handler_read%'");
  return rows.reduce((sum: number, row: { Value: string }) => sum + Number(row.Value), 0);
}

/** The number of rows that a statement reads. */
async function rowsReadBy(name: StatementName, values: Values): Promise<number> {
  const read = createRead(session);
  const before = await rowsRead();
  const between = await rowsRead();
  const bindings = bindingsOf(STATEMENTS[name], valuesFor(name, values));
  await read(STATEMENTS[name].sql, bindings, { signal: SIGNAL });
  const after = await rowsRead();
  // Reading the counters is counted too.
  return after - between - (between - before);
}

/**
 * The most rows that a statement may read. An overview reads no covered charge. A breakdown reads
 * a segment of charges and of rentals at each edge of the period, and twice the open rentals, of
 * which provider 2 has 500. Grouping counts rows once more, and so does sorting its 113 checkpoints.
 * Provider 2 has 50,000 charges.
 */
const MAX_ROWS: Readonly<Record<StatementName, number>> = {
  fullOverview: SIZE,
  uncoveredOverview: SIZE / 5,
  uncoveredOverviews2: (2 * SIZE) / 5,
  uncoveredOverviews4: (4 * SIZE) / 5,
  uncoveredOverviews8: (8 * SIZE) / 5,
  fullBreakdown: 20 * SIZE,
  uncoveredBreakdown: 20 * SIZE,
  breakdownCheckpoints: 2 * SIZE,
};

it.each(STATEMENT_NAMES)(
  "%s, prepared, reads few rows, for any provider and period",
  async (name) => {
    const read = createRead(database.knex);
    // The same prepared statement is used for small and large providers and periods in turn.
    for (const provider of ["2", "1", "2"]) {
      for (const days of [400, 30, 700, 0]) {
        const all: Values[] = [];
        for (const one of [provider, "1", "2", "3", "4", "5", "6", "7"]) {
          const parameters = valuesOf(one, days);
          all.push({ ...parameters, ...(await cachedValues(read, parameters)) });
        }
        const values = { ...all[0], ...atPlaces(all) };
        const rows = await rowsReadBy(name, values);
        expect(rows, `provider ${provider}, ${days} days`).toBeGreaterThan(0);
        expect(rows, `provider ${provider}, ${days} days`).toBeLessThanOrEqual(MAX_ROWS[name]);
      }
    }
  },
);

it.each([
  ["fullOverview", "uncoveredOverview"],
  ["fullBreakdown", "uncoveredBreakdown"],
] as const)(
  "%s reads the totals of the rollup in addition to what %s reads",
  async (full, uncovered) => {
    const parameters = valuesOf("2", 400);
    const { start = "", end = "" } = parameters;
    const values = {
      ...parameters,
      ...(await cachedValues(createRead(database.knex), parameters)),
      ...{ startFrom: toDatetime(fromDatetime(start) - 1), endFrom: end },
    };
    const saved = (await rowsReadBy(full, values)) - (await rowsReadBy(uncovered, values));
    // The totals of 20 servers, or of 60 servers and instances at two checkpoints.
    expect(saved).toBeGreaterThan(20);
  },
);
