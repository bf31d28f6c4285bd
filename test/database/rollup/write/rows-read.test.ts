/**
 * How many rows each statement reads as it is run: prepared, so that the plan is chosen with
 * `?` in it, and reused by the connection.
 */
import type { Knex } from "knex";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseDatabaseUrl } from "../../../../src/config.ts";
import { toDatetime } from "../../../../src/db/datetime.ts";
import { createPool } from "../../../../src/db/pool.ts";
import { createRead } from "../../../../src/db/query.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { addBulk } from "../../../support/rollup/bulk.ts";
import {
  bindingsOf,
  cachedOf,
  STATEMENT_NAMES,
  STATEMENTS,
  type StatementName,
  type Values,
} from "../../../support/statements.ts";
import { build } from "./built.ts";

const DAY = 86_400_000;
const NOW = Date.now();
/** So many charges between two checkpoints. */
const SIZE = 250;
const SIGNAL = new AbortController().signal;

let database: TestDatabase;
/** A pool of one connection: what a session counts is what was read through it. */
let session: Knex;
beforeAll(async () => {
  database = await createDatabase();
  session = createPool(parseDatabaseUrl(database.url), { pool: 1 });
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

/** What a provider asks for, the period being so many days. */
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

/** How many rows the session has read so far, by a key or not, those of temporary tables too. */
async function rowsRead(): Promise<number> {
  const [rows] = await session.raw("SHOW SESSION STATUS LIKE 'Handler_read%'");
  return rows.reduce((sum: number, row: { Value: string }) => sum + Number(row.Value), 0);
}

/** How many rows a statement reads. */
async function rowsReadBy(name: StatementName, values: Values): Promise<number> {
  const read = createRead(session);
  const before = await rowsRead();
  const between = await rowsRead();
  await read(STATEMENTS[name].sql, bindingsOf(STATEMENTS[name], values), SIGNAL);
  const after = await rowsRead();
  // Asking for the count is counted too.
  return after - between - (between - before);
}

/**
 * The most that a statement may read: an overview no charge that the rollup holds; a breakdown
 * a segment of charges and of rentals at each end of the period, and twice the rentals that
 * run, of which provider 2 has 500. What is grouped is counted once more. Provider 2's ledger
 * alone would be 50 000 charges.
 */
const MOST: Readonly<Record<StatementName, number>> = {
  fullOverview: SIZE,
  uncoveredOverview: SIZE / 5,
  fullBreakdown: 20 * SIZE,
  uncoveredBreakdown: 20 * SIZE,
};

it.each(STATEMENT_NAMES)(
  "%s, prepared, reads few rows, whoever asks and for which period",
  async (name) => {
    const read = createRead(database.knex);
    // The same statement of the same connection again and again, after it was used for little and for much.
    for (const provider of ["2", "1", "2"]) {
      for (const days of [400, 30, 700, 0]) {
        const asked = valuesOf(provider, days);
        const values = { ...asked, ...(await cachedOf(read, asked)) };
        const rows = await rowsReadBy(name, values);
        expect(rows, `provider ${provider}, ${days} days`).toBeGreaterThan(0);
        expect(rows, `provider ${provider}, ${days} days`).toBeLessThanOrEqual(MOST[name]);
      }
    }
  },
);

it.each([
  ["fullOverview", "uncoveredOverview"],
  ["fullBreakdown", "uncoveredBreakdown"],
] as const)("%s reads what is in the rollup more than %s", async (whole, beside) => {
  const asked = valuesOf("2", 400);
  const values = { ...asked, ...(await cachedOf(createRead(database.knex), asked)) };
  const saved = (await rowsReadBy(whole, values)) - (await rowsReadBy(beside, values));
  // The figures of 20 servers, or of 60 servers and instances at two checkpoints.
  expect(saved).toBeGreaterThan(20);
});
