/** The plan of each query, on tables that are large enough for a full scan to be expensive. */
import type { Knex } from "knex";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRead } from "../../../src/db/query.ts";
import { END, START } from "../../../src/rollup/timeline.ts";
import { rollUp } from "../../../src/rollup/write/run.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import {
  atPlaces,
  bindingsOf,
  branchesOf,
  cachedValues,
  STATEMENT_NAMES,
  STATEMENTS,
  type StatementName,
  type Values,
  valuesFor,
} from "../../support/statements.ts";
import { fill, OTHERS, PROVIDERS } from "./many-rows.ts";

/** Parameters; the rollup's state and what is cached are those of a provider without a rollup. */
const ONE: Values = {
  provider: "3",
  rollup: "",
  watermark: "1000-01-01 00:00:00.000",
  verify: "1",
  startFrom: START,
  startLast: END,
  endFrom: START,
  endLast: END,
  now: "2026-11-20 09:30:00.000",
  firstMonth: "2025-12-01 00:00:00.000",
  nextMonth: "2026-12-01 00:00:00.000",
  start: "2026-10-21 09:30:00.000",
  before: "2026-10-21 09:29:59.999",
  end: "2026-11-20 09:30:00.000",
};
/** For a statement for several providers, those of other providers too. */
const others = (one: Values): Values =>
  atPlaces(Array.from({ length: PROVIDERS }, (_, place) => ({ ...one, provider: `${place + 1}` })));
const VALUES: Values = { ...ONE, ...others(ONE) };

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
  for (const { sql, bindings } of branchesOf(STATEMENTS[name], valuesFor(name, values))) {
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
    "charges by charges_by_recording", // chargesAtStart: without a rollup, no row is covered
    "charges by charges_by_recording", // chargesAtEnd
    "nothing", // endsAtStart: none ended before the watermark
    "rentals by rentals_by_end", // startsAtEnd
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
        "nothing", // totalsAtStart
        "nothing", // totalsAtEnd
      ],
    ],
    ["uncoveredBreakdown", breakdown],
    ["breakdownCheckpoints", ["nothing", "nothing"]],
  ])("%s", async (name, expected) => {
    await expectPlans(name, VALUES, expected);
  });
});

describe("with a rollup, each query uses the intended key and scans no table:", () => {
  let values: Values;
  beforeAll(async () => {
    await rollUp(database.knex, { margin: 0 });
    await database.knex.raw(
      `INSERT INTO rollups (provider_id, generation, cut)
         SELECT n, 1, '2026-01-01' FROM many WHERE n ${OTHERS}`,
    );
    await database.knex.raw(
      "ANALYZE TABLE rollups, rollup_checkpoints, rollup_figures, rollup_months",
    );
    const one = { ...ONE, ...(await cachedValues(createRead(database.knex), ONE)) };
    values = { ...one, ...others(one) };
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
    "charges by PRIMARY", // chargesAtStart: one range of the clustered key, up to the checkpoint
    "charges by PRIMARY", // chargesAtEnd
    "rentals by rentals_by_end", // endsAtStart
    "rentals by PRIMARY", // startsAtEnd
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
      "uncoveredOverviews8",
      [
        "nothing", // snapshot
        "rollups by PRIMARY", // state
        "charges by PRIMARY", // future
        ...overview.slice(1, -1),
        ...Array(8).fill("payouts by PRIMARY"), // payouts0 to payouts7
      ],
    ],
    [
      "fullBreakdown",
      [
        ...breakdown,
        "rollups by PRIMARY", // checkpoints
        "rollup_figures by PRIMARY", // totalsAtStart
        "rollup_figures by PRIMARY", // totalsAtEnd
      ],
    ],
    [
      "uncoveredBreakdown",
      [
        "rollups by PRIMARY,charges by PRIMARY", // state, and the charges of the cached edges
        ...breakdown.slice(1),
      ],
    ],
    [
      "breakdownCheckpoints",
      [
        "rollups by PRIMARY", // checkpoints
        "rollup_checkpoints by PRIMARY", // latest
      ],
    ],
  ])("%s", async (name, expected) => {
    await expectPlans(name, values, expected);
  });

  it.each(STATEMENT_NAMES)("%s has the same plans as one statement", async (name) => {
    const [statement, given] = [STATEMENTS[name], valuesFor(name, values)];
    const together = readsOf(await planOf(statement.sql, bindingsOf(statement, given)));
    const apart: string[] = [];
    for (const { sql, bindings } of branchesOf(statement, given)) {
      apart.push(...readsOf(await planOf(sql, bindings)));
    }
    expect(together.toSorted()).toEqual(apart.toSorted());
    expect(together.filter((read) => read.endsWith("full scan"))).toEqual([]);
  });
});
