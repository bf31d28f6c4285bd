/**
 * How many rows each statement reads when it is prepared, so that the plan is chosen without the
 * bindings and reused by the connection.
 */
import type { Knex } from "knex";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseDatabaseUrl } from "../../../../src/config.ts";
import { toDatetime } from "../../../../src/db/datetime.ts";
import { createPool } from "../../../../src/db/pool.ts";
import { createRead } from "../../../../src/db/query.ts";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { rollUp } from "../../../../src/rollup/write/run.ts";
import { nextSlice } from "../../../../src/rollup/write/spans.ts";
import { readRollups } from "../../../../src/rollup/write/state.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { addBulk } from "../../../support/rollup/bulk.ts";
import {
  bindingsOf,
  cachedValues,
  STATEMENT_NAMES,
  STATEMENTS,
  type StatementName,
  type Values,
} from "../../../support/statements.ts";

const DAY = 86_400_000;
const NOW = Date.now();
/** The rows that a leaf of 60 owners has at most, on average. */
const LEAF = 480;

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
  await rollUp(database.knex, { margin: 0 });
  const tables = ["servers", "instances", "rentals", "charges"];
  await database.knex.raw(`ANALYZE TABLE ${[...tables, ...Object.values(TABLES)].join(", ")}`);
});
afterAll(async () => {
  await session.destroy();
  await database.drop();
});

/** The parameters of a provider's query, with a period of `days` that ended 20 days ago. */
async function valuesOf(provider: string, days: number): Promise<Values> {
  const [start, end] = [toDatetime(NOW - (days + 20) * DAY), toDatetime(NOW - 20 * DAY)];
  const values = { provider, start, end };
  return { ...values, ...(await cachedValues(createRead(database.knex), values)) };
}

/** The number of rows that the session has read, including those of temporary tables. */
async function rowsRead(): Promise<number> {
  const [rows] = await session.raw("SHOW SESSION STATUS LIKE 'Handler_read%'");
  return rows.reduce((sum: number, row: { Value: string }) => sum + Number(row.Value), 0);
}

/** The number of rows that a statement reads. */
async function rowsReadBy(name: StatementName, values: Values): Promise<number> {
  const { signal } = new AbortController();
  const before = await rowsRead();
  const between = await rowsRead();
  const { sql } = STATEMENTS[name];
  await createRead(session)(sql, bindingsOf(STATEMENTS[name], values), { signal });
  const after = await rowsRead();
  // Reading the counters is counted too.
  return after - between - (between - before);
}

/**
 * The most rows that a statement may read. An overview reads no covered charge. A breakdown reads
 * a leaf of charges and of rentals at each end of the period, and the open rentals, of which provider
 * 2 has 500. Grouping counts rows once more. Provider 2 has 50,000 charges.
 */
const MAX_ROWS: Readonly<Record<StatementName, number>> = {
  fullOverview: LEAF,
  uncoveredOverview: LEAF / 4,
  uncoveredOverviews2: 2 * (LEAF / 4),
  uncoveredOverviews4: 4 * (LEAF / 4),
  uncoveredOverviews8: 8 * (LEAF / 4),
  fullBreakdown: 10 * LEAF,
  uncoveredBreakdown: 10 * LEAF,
};

it.each(STATEMENT_NAMES)(
  "%s, prepared, reads few rows, for any provider and period",
  async (name) => {
    // The same prepared statement is used for small and large providers and periods in turn.
    for (const provider of ["2", "1", "2"]) {
      for (const days of [400, 30, 700, 0]) {
        const rows = await rowsReadBy(name, await valuesOf(provider, days));
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
  "%s reads the sums of the rollup in addition to what %s reads",
  async (full, uncovered) => {
    const values = await valuesOf("2", 400);
    const saved = (await rowsReadBy(full, values)) - (await rowsReadBy(uncovered, values));
    // The sums of 20 servers, or of 60 servers and instances at two boundaries.
    expect(saved).toBeGreaterThan(20);
  },
);

it("the full breakdown reads next to nothing if the rollup's leaves are others than expected", async () => {
  const values = await valuesOf("2", 400);
  const rows = await rowsReadBy("fullBreakdown", { ...values, leaf: "15" });
  expect(rows).toBeLessThan(LEAF / 4);
});

it("a slice of a check is found by reading the rows that it has, and not the whole ledger", async () => {
  const ROWS = 500;
  const before = await rowsRead();
  await session.transaction(async (reader) => {
    const { current } = await readRollups(reader, "2");
    if (current === undefined) throw new Error("expected a rollup");
    const from = toDatetime(NOW - 300 * DAY);
    await nextSlice(reader, current, { owners: [], totals: [] }, from, ROWS);
  });
  // Of each of three columns: up to the end of the slice, and once more to group its rows.
  expect((await rowsRead()) - before).toBeLessThan(3 * 4 * ROWS);
});
