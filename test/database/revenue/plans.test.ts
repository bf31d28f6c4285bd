/** The plan of each query, on tables that are large enough for a full scan to be expensive. */
import type { Knex } from "knex";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRead } from "../../../src/db/query.ts";
import { rollUp } from "../../../src/rollup/write/run.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import {
  bindingsOf,
  branchesOf,
  cachedValues,
  STATEMENT_NAMES,
  STATEMENTS,
  type StatementName,
  type Values,
} from "../../support/statements.ts";

const PROVIDERS = 8;
/** Rows of each provider. Most of them are older than the period. */
const ROWS = { servers: 40, instances: 80, rentals: 1_000, charges: 4_000, payouts: 200 };
/** Parameters; the rollup's state and the cached edges are those of a provider without a rollup. */
const VALUES: Values = {
  provider: "3",
  rollup: "",
  watermark: "1000-01-01 00:00:00.000",
  verify: "1",
  checkpointStart: "0001-01-01 00:00:00.000",
  checkpointEnd: "0001-01-01 00:00:00.000",
  cachedStart: "0001-01-01 00:00:00.000",
  cachedEnd: "0001-01-01 00:00:00.000",
  now: "2026-11-20 09:30:00.000",
  firstMonth: "2025-12-01 00:00:00.000",
  nextMonth: "2026-12-01 00:00:00.000",
  start: "2026-10-21 09:30:00.000",
  end: "2026-11-20 09:30:00.000",
};

interface Step {
  readonly select_type: string;
  readonly table: string | null;
  readonly type: string | null;
  readonly key: string | null;
}

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await fill(database.knex);
});
afterAll(() => database.drop());

/** Stores the same rows for every provider, spread over up to three years. */
async function fill(knex: Knex): Promise<void> {
  await knex.raw("CREATE TABLE many (n INT PRIMARY KEY)");
  await knex("many").insert(Array.from({ length: 4_000 }, (_, n) => ({ n })));
  const from = (rows: number) =>
    `FROM many p, many i WHERE p.n BETWEEN 1 AND ${PROVIDERS} AND i.n < ${rows}`;
  const at = (step: string) => `TIMESTAMP('2026-12-01') - INTERVAL i.n * ${step}`;
  await knex("providers").insert(
    Array.from({ length: PROVIDERS }, (_, index) => ({ id: index + 1, name: "provider" })),
  );
  for (const statement of [
    `INSERT INTO wallets SELECT p.n, 1 FROM many p WHERE p.n BETWEEN 1 AND 500`,
    `INSERT INTO servers (provider_id, uuid, name, status, price_per_hour)
       SELECT p.n, CONCAT(p.n, '-', i.n), 'server', 'Active', 1 ${from(ROWS.servers)}`,
    `INSERT INTO instances (provider_id, server_id, public_id, name)
       SELECT p.n, i.n % ${ROWS.servers}, 'i', 'instance' ${from(ROWS.instances)}`,
    `INSERT INTO rentals (provider_id, server_id, instance_id, started_at, ended_at)
       SELECT p.n, i.n % ${ROWS.servers}, i.n, ${at("25 HOUR")},
              IF(i.n % 50 = 0, NULL, ${at("25 HOUR")} + INTERVAL 20 HOUR) ${from(ROWS.rentals)}`,
    `INSERT INTO charges (provider_id, server_id, instance_id, charged_at, gross)
       SELECT p.n, i.n % ${ROWS.servers}, i.n % ${ROWS.instances}, ${at("6 HOUR")}, 1.25 ${from(ROWS.charges)}`,
    `INSERT INTO payouts (provider_id, public_id, paid_at, amount, method, status)
       SELECT p.n, 'p', ${at("5 DAY")}, 1, 'Bank Transfer', 'Completed' ${from(ROWS.payouts)}`,
    `INSERT INTO api_keys (provider_id, key_hash)
       SELECT p.n, UNHEX(SHA2(CONCAT(p.n, '-', i.n), 256)) ${from(100)}`,
    "ANALYZE TABLE wallets, servers, instances, rentals, charges, payouts, api_keys",
  ]) {
    await knex.raw(statement);
  }
}

async function planOf(sql: string, bindings: readonly (string | Buffer)[]): Promise<Step[]> {
  const format = "EXPLAIN FORMAT=TRADITIONAL";
  const [steps] = await database.knex.raw(`${format} ${sql}`, bindings as Knex.RawBinding[]);
  return steps;
}

/** How a plan reads the tables: "table by key", for each step. */
function readsOf(plan: readonly Step[]): string[] {
  return plan
    .filter(({ table }) => table !== null && !table.startsWith("<"))
    .map(({ table, key, type }) => `${table} by ${key}${type === "ALL" ? ", full scan" : ""}`);
}

/**
 * Checks by which key each query reads its table. A subquery reads the rollup's state by key; that
 * of another table is listed too, after the table of the query.
 */
async function expectPlans(name: StatementName, values: Values, expected: readonly string[]) {
  const reads: string[] = [];
  for (const { sql, bindings } of branchesOf(STATEMENTS[name], values)) {
    const plan = await planOf(sql, bindings);
    const isConstant = ({ select_type }: Step) => select_type === "SUBQUERY";
    const constants = readsOf(plan.filter(isConstant));
    const subqueries = constants.filter((read) => read !== "rollups by PRIMARY");
    if (sql.endsWith("FROM DUAL")) {
      expect(readsOf(plan)).toEqual(constants);
      reads.push([...new Set(constants)].sort().join() || "nothing");
      continue;
    }
    const query = readsOf(plan.filter((step) => !isConstant(step)));
    // Subqueries of a query without a row do not run. MariaDB explains them nevertheless.
    reads.push(query.length > 0 ? [...query, ...new Set(subqueries)].join() : "nothing");
  }
  expect(reads).toEqual(expected);
}

describe("without a rollup, each query uses the intended key and scans no table:", () => {
  const overview = [
    "nothing", // state
    "wallets by PRIMARY", // balance
    "servers by PRIMARY", // servers
    "charges by PRIMARY", // charges
    "payouts by PRIMARY", // payouts
  ];
  const breakdown = [
    "nothing", // state
    "servers by PRIMARY", // servers
    "instances by PRIMARY", // instances
    "charges by charges_by_recording", // chargesUpToEnd: without a rollup, no row is covered
    "rentals by rentals_by_end", // startsUpToEnd
    "charges by charges_by_recording", // chargesUpToStart
    "rentals by rentals_by_end", // endsUpToStart
    "charges by PRIMARY", // uncoveredCharges: one range of the clustered key, the period
    "rentals by rentals_by_end,held by PRIMARY", // writtenRentals
    "rentals by rentals_by_update", // endingRentals
    "rentals by rentals_by_end", // openRentals
    "rentals by rentals_by_end", // runningRentals
  ];

  it.each<[StatementName, string[]]>([
    [
      "fullOverview",
      [
        ...overview,
        "nothing", // grossByMonth
        "nothing", // grossByServer
      ],
    ],
    ["uncoveredOverview", overview],
    [
      "fullBreakdown",
      [
        ...breakdown,
        "nothing", // checkpoints
        "nothing", // totalsAtEnd
        "nothing", // totalsAtStart
      ],
    ],
    ["uncoveredBreakdown", breakdown],
  ])("%s", async (name, expected) => {
    await expectPlans(name, VALUES, expected);
  });
});

describe("with a rollup, each query uses the intended key and scans no table:", () => {
  let values: Values;
  beforeAll(async () => {
    await rollUp(database.knex, { margin: 0 });
    await database.knex.raw(
      "ANALYZE TABLE rollups, rollup_checkpoints, rollup_figures, rollup_months",
    );
    values = { ...VALUES, ...(await cachedValues(createRead(database.knex), VALUES)) };
  });

  const overview = [
    "rollups by PRIMARY,charges by PRIMARY", // state, and the charges dated after now
    "wallets by PRIMARY", // balance
    "servers by PRIMARY", // servers
    "charges by charges_by_recording", // charges
    "payouts by PRIMARY", // payouts
  ];
  const breakdown = [
    "rollups by PRIMARY", // state
    "servers by PRIMARY", // servers
    "instances by PRIMARY", // instances
    "charges by PRIMARY", // chargesUpToEnd: one range of the clustered key, from the checkpoint on
    "rentals by PRIMARY", // startsUpToEnd
    "charges by PRIMARY", // chargesUpToStart
    "rentals by rentals_by_end", // endsUpToStart
    "charges by charges_by_recording", // uncoveredCharges
    "rentals by rentals_by_update,held by PRIMARY", // writtenRentals
    "rentals by rentals_by_end", // endingRentals
    "rentals by rentals_by_end", // openRentals
    "rentals by rentals_by_end", // runningRentals
  ];

  it.each<[StatementName, string[]]>([
    [
      "fullOverview",
      [
        ...overview,
        "rollup_months by PRIMARY", // grossByMonth
        "rollup_figures by PRIMARY", // grossByServer
      ],
    ],
    ["uncoveredOverview", overview],
    [
      "fullBreakdown",
      [
        ...breakdown,
        "rollups by PRIMARY", // checkpoints
        "rollup_figures by PRIMARY", // totalsAtEnd
        "rollup_figures by PRIMARY", // totalsAtStart
      ],
    ],
    [
      "uncoveredBreakdown",
      [
        "rollups by PRIMARY,charges by PRIMARY", // state, and the charges of the cached edges
        ...breakdown.slice(1),
      ],
    ],
  ])("%s", async (name, expected) => {
    await expectPlans(name, values, expected);
  });

  it.each(STATEMENT_NAMES)("%s has the same plans as one statement", async (name) => {
    const statement = STATEMENTS[name];
    const together = readsOf(await planOf(statement.sql, bindingsOf(statement, values)));
    const apart: string[] = [];
    for (const { sql, bindings } of branchesOf(statement, values)) {
      apart.push(...readsOf(await planOf(sql, bindings)));
    }
    expect(together.toSorted()).toEqual(apart.toSorted());
    expect(together.filter((read) => read.endsWith("full scan"))).toEqual([]);
  });
});
