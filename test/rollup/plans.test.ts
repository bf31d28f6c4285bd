/** Each question's plan where there is a fresh rollup: it reads what is in the answer, not the ledger. */
import type { Knex } from "knex";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toDatetime } from "../../src/database/datetime.ts";
import { breakdownQuestions } from "../../src/revenue/breakdown-questions.ts";
import { overviewQuestions } from "../../src/revenue/overview-questions.ts";
import { createDatabase, type TestDatabase } from "../setup/database.ts";
import { addBulk } from "./ledger/bulk.ts";
import { build } from "./units/built.ts";

const DAY = 86_400_000;
const NOW = Date.now();
const SIZE = 250;
const VALUES: Readonly<Record<string, string>> = {
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
async function plansOf(questions: {
  readonly sql: string;
  readonly parameters: readonly string[];
}): Promise<Step[][]> {
  const parameters = [...questions.parameters];
  const plans: Step[][] = [];
  for (const branch of questions.sql.split("\nUNION ALL ")) {
    const sql = branch.replace(/^\(([\s\S]*)\)$/, "$1");
    const count = sql.split("?").length - 1;
    const bindings = parameters.splice(0, count).map((name) => VALUES[name] ?? "");
    plans.push(await explain(sql, bindings));
  }
  return plans;
}

/** Its first read of a table of the service, as "table by key"; the rest reads the rollup's state. */
const main = (plan: readonly Step[]) =>
  plan.filter(({ table }) => table !== null && !table.startsWith("<"));

describe.each([
  [
    "the overview",
    overviewQuestions,
    [
      "wallets by PRIMARY", // wallet
      "servers by PRIMARY", // servers
      "rollup_months by PRIMARY", // months
      "charges by PRIMARY", // upcoming
      "rollup_figures by PRIMARY", // lifetimes
      "charges by charges_by_recording", // recent
      "payouts by PRIMARY", // payouts
    ],
  ],
  [
    "the breakdown",
    breakdownQuestions,
    [
      "servers by PRIMARY", // servers
      "instances by PRIMARY", // instances
      "rollup_figures by PRIMARY", // untilEnd
      "charges by PRIMARY", // upToEnd
      "rentals by PRIMARY", // startsUpToEnd
      "rollup_figures by PRIMARY", // untilStart
      "charges by PRIMARY", // upToStart
      "rentals by rentals_by_end", // endsUpToStart
      "charges by charges_by_recording", // recentCharges
      "rentals by rentals_by_update", // recentRentals
      "rentals by rentals_by_end", // openRentals
      "rentals by rentals_by_end", // runningRentals
    ],
  ],
] as const)("%s", (_, questions, expected) => {
  it("reads each table through the key meant for it", async () => {
    const plans = await plansOf(questions);
    expect(plans.map((plan) => `${main(plan)[0]?.table} by ${main(plan)[0]?.key}`)).toEqual(
      expected,
    );
  });

  it("reads no more of charges, rentals and rollups than a few segments", async () => {
    for (const plan of await plansOf(questions)) {
      for (const { table, type, rows } of main(plan)) {
        expect(type, `how ${table} is read`).not.toBe("ALL");
        if (table === "servers" || table === "instances") continue;
        expect(Number(rows), `rows of ${table}`).toBeLessThanOrEqual(4 * SIZE);
      }
    }
  });
});
