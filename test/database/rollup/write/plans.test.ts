/** The plan of each query with a fresh rollup: it reads about as many rows as the answer has. */
import type { Knex } from "knex";
import { afterAll, beforeAll, expect, it } from "vitest";
import { toDatetime } from "../../../../src/db/datetime.ts";
import { createRead } from "../../../../src/db/query.ts";
import { TABLES } from "../../../../src/rollup/tables.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { addBulk } from "../../../support/rollup/bulk.ts";
import {
  atPlaces,
  branchesOf,
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
const SIZE = 250;
/** The parameters. Those that come from the rollup are added after it is built. */
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
  readonly rows: string | number | null;
}

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  const small = { servers: 10, instances: 10, charges: 4_000, rentals: 400 };
  await addBulk(database.knex, [
    { provider: 1, ...small },
    { provider: 2, servers: 20, instances: 40, charges: 50_000, rentals: 5_000 },
    { provider: 3, ...small },
  ]);
  for (const provider of ["1", "2", "3"]) {
    await build(database.knex, provider, toDatetime(NOW - 60_000), SIZE);
  }
  // A scan of a few rows would be cheaper than a lookup of each.
  const others = Array.from({ length: 500 }, (_, index) => ({ provider_id: index + 100 }));
  const state = { generation: 1, cut: "2026-01-01 00:00:00.000" };
  await database.knex(TABLES.state).insert(others.map((other) => ({ ...other, ...state })));
  await database
    .knex("wallets")
    .insert(others.map((other) => ({ ...other, available_balance: "1.00" })));
  await database.knex("servers").insert(
    others.map((other) => ({
      ...other,
      ...{ uuid: `other-${other.provider_id}`, name: "", status: "", price_per_hour: "1.0000" },
    })),
  );
  await database.knex.raw(
    "ANALYZE TABLE wallets, servers, instances, rentals, charges, rollups, rollup_checkpoints, rollup_figures, rollup_months",
  );
  const read = createRead(database.knex);
  const all: Values[] = [];
  for (const provider of ["2", "1", "3", "4", "5", "6", "7", "8"]) {
    const one = { ...values, provider };
    all.push({ ...one, ...(await cachedValues(read, one)) });
  }
  values = { ...all[0], ...atPlaces(all) };
});
afterAll(() => database.drop());

async function explain(sql: string, bindings: readonly string[]): Promise<Step[]> {
  const [steps] = await database.knex.raw(
    `EXPLAIN FORMAT=TRADITIONAL ${sql}`,
    bindings as Knex.RawBinding[],
  );
  return steps;
}

/** The plan of each query of a statement, in order. */
async function plansOf(name: StatementName): Promise<Step[][]> {
  const plans: Step[][] = [];
  for (const { sql, bindings } of branchesOf(STATEMENTS[name], valuesFor(name, values))) {
    plans.push(await explain(sql, bindings));
  }
  return plans;
}

/** The steps that read tables of the schema. */
const readsOf = (plan: readonly Step[]) =>
  plan.filter(({ table }) => table !== null && !table.startsWith("<"));

// The keys that they use are tested in test/database/revenue/plans.test.ts.
it.each(STATEMENT_NAMES)("%s reads no more than a few segments", async (name) => {
  const plans = await plansOf(name);
  expect(plans.flatMap(readsOf).length).toBeGreaterThan(3);
  for (const { table, type, rows } of plans.flatMap(readsOf)) {
    expect(type, `how ${table} is read`).not.toBe("ALL");
    if (table === "servers" || table === "instances") continue;
    expect(Number(rows), `rows of ${table}`).toBeLessThanOrEqual(4 * SIZE);
  }
});
