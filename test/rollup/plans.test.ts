/** Each question's plan where there is a fresh rollup: it reads what is in the answer, not the ledger. */
import type { Knex } from "knex";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toDatetime } from "../../src/database/datetime.ts";
import { createRead } from "../../src/database/read.ts";
import {
  bindingsOf,
  branchesOf,
  rememberedOf,
  STATEMENTS,
  type StatementName,
  type Values,
} from "../revenue/statements.ts";
import { createDatabase, type TestDatabase } from "../setup/database.ts";
import { addBulk } from "./ledger/bulk.ts";
import { build } from "./units/built.ts";

const DAY = 86_400_000;
const NOW = Date.now();
const SIZE = 250;
/** What is asked for; the rollup's cut and checkpoints are added where it is built. */
let values: Values = {
  provider: "2",
  now: toDatetime(NOW),
  firstMonth: `${toDatetime(NOW - 334 * DAY).slice(0, 7)}-01 00:00:00.000`,
  nextMonth: `${toDatetime(NOW + 31 * DAY).slice(0, 7)}-01 00:00:00.000`,
  start: toDatetime(NOW - 400 * DAY),
  end: toDatetime(NOW - 20 * DAY),
};

interface Step {
  readonly table: string | null;
  readonly type: string | null;
  readonly key: string | null;
  readonly rows: string | number | null;
}

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
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
  values = { ...values, ...(await rememberedOf(createRead(database.knex), values)) };
});
afterAll(() => database.drop());

async function explain(sql: string, bindings: readonly string[]): Promise<Step[]> {
  const [steps] = await database.knex.raw(
    `EXPLAIN FORMAT=TRADITIONAL ${sql}`,
    bindings as Knex.RawBinding[],
  );
  return steps;
}

/** Each question's plan, in the questions' order. */
async function plansOf(name: StatementName): Promise<Step[][]> {
  const plans: Step[][] = [];
  for (const { sql, bindings } of branchesOf(STATEMENTS[name], values)) {
    plans.push(await explain(sql, bindings));
  }
  return plans;
}

/** Its first read of a table of the service, as "table by key"; the rest reads the rollup's state. */
const main = (plan: readonly Step[]) =>
  plan.filter(({ table }) => table !== null && !table.startsWith("<"));

const OVERVIEW = [
  "wallets by PRIMARY", // singles
  "servers by PRIMARY", // servers
  "charges by charges_by_recording", // recent
  "payouts by PRIMARY", // payouts
];
const BREAKDOWN = [
  "rollups by PRIMARY", // state
  "servers by PRIMARY", // servers
  "instances by PRIMARY", // instances
  "charges by PRIMARY", // upToEnd
  "rentals by PRIMARY", // startsUpToEnd
  "charges by PRIMARY", // upToStart
  "rentals by rentals_by_end", // endsUpToStart
  "charges by charges_by_recording", // recentCharges
  "rentals by rentals_by_update", // recentRentals
  "rentals by rentals_by_end", // dueRentals
  "rentals by rentals_by_end", // openRentals
  "rentals by rentals_by_end", // endingRentals
];

describe.each<[StatementName, readonly string[]]>([
  [
    "wholeOverview",
    [
      ...OVERVIEW,
      "rollup_months by PRIMARY", // months
      "charges by PRIMARY", // upcoming
      "rollup_figures by PRIMARY", // lifetimes
    ],
  ],
  ["overviewBesideRollup", OVERVIEW],
  [
    "wholeBreakdown",
    [
      ...BREAKDOWN,
      "rollups by PRIMARY", // checkpoints
      "rollup_figures by PRIMARY", // untilEnd
      "rollup_figures by PRIMARY", // untilStart
    ],
  ],
  ["breakdownBesideRollup", BREAKDOWN],
])("%s", (name, expected) => {
  it("reads each table through the key meant for it", async () => {
    const plans = await plansOf(name);
    expect(plans.map((plan) => `${main(plan)[0]?.table} by ${main(plan)[0]?.key}`)).toEqual(
      expected,
    );
  });

  it("reads no more of charges, rentals and rollups than a few segments", async () => {
    for (const plan of await plansOf(name)) {
      for (const { table, type, rows } of main(plan)) {
        expect(type, `how ${table} is read`).not.toBe("ALL");
        if (table === "servers" || table === "instances") continue;
        expect(Number(rows), `rows of ${table}`).toBeLessThanOrEqual(4 * SIZE);
      }
    }
  });

  it("reads as one statement what its questions read apart", async () => {
    const { sql } = STATEMENTS[name];
    const reads = (plan: readonly Step[]) =>
      main(plan).map(({ table, key, type }) => `${table} by ${key}, ${type}`);
    const whole = await explain(sql, bindingsOf(STATEMENTS[name], values));
    expect(reads(whole).toSorted()).toEqual((await plansOf(name)).flatMap(reads).toSorted());
  });
});
