/** The plan of each query with a fresh rollup: it reads about as many rows as the answer has. */
import type { Knex } from "knex";
import { afterAll, beforeAll, expect, it } from "vitest";
import { toDatetime } from "../../../../src/db/datetime.ts";
import { createRead } from "../../../../src/db/query.ts";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { rollUp } from "../../../../src/rollup/write/run.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { addBulk } from "../../../support/rollup/bulk.ts";
import {
  branchesOf,
  cachedValues,
  STATEMENT_NAMES,
  STATEMENTS,
  type Values,
} from "../../../support/statements.ts";

const DAY = 86_400_000;
const NOW = Date.now();
/** The rows that a leaf of 60 owners has at most, on average. */
const LEAF = 480;
/** The parameters. Those that come from the rollup are added after it is built. */
let values: Values = {
  provider: "2",
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
  const { knex } = database;
  const small = { servers: 10, instances: 10, charges: 4_000, rentals: 400 };
  await addBulk(knex, [
    { provider: 1, ...small },
    { provider: 2, servers: 20, instances: 40, charges: 50_000, rentals: 5_000 },
    { provider: 3, ...small },
  ]);
  await rollUp(knex, { margin: 0 });
  // A scan of a few rows would be cheaper than a lookup of each.
  const others = Array.from({ length: 500 }, (_, index) => ({ provider_id: index + 100 }));
  const rollup = await knex(TABLES.rollups).first();
  await knex(TABLES.rollups).insert(others.map((other) => ({ ...rollup, ...other })));
  await knex("wallets").insert(others.map((other) => ({ ...other, available_balance: "1.00" })));
  await knex("servers").insert(
    others.map((other) => ({
      ...other,
      ...{ uuid: `other-${other.provider_id}`, name: "", status: "", price_per_hour: "1.0000" },
    })),
  );
  const tables = ["wallets", "servers", "instances", "rentals", "charges"];
  await knex.raw(`ANALYZE TABLE ${[...tables, ...Object.values(TABLES)].join(", ")}`);
  values = { ...values, ...(await cachedValues(createRead(knex), values)) };
});
afterAll(() => database.drop());

async function explain(sql: string, bindings: readonly string[]): Promise<Step[]> {
  const [steps] = await database.knex.raw(
    `EXPLAIN FORMAT=TRADITIONAL ${sql}`,
    bindings as Knex.RawBinding[],
  );
  return steps;
}

// The keys that they use are tested in test/database/revenue/plans.test.ts.
it.each(STATEMENT_NAMES)("%s reads no more than a few leaves", async (name) => {
  const steps: Step[] = [];
  for (const { sql, bindings } of branchesOf(STATEMENTS[name], values)) {
    steps.push(...(await explain(sql, bindings)));
  }
  const reads = steps.filter(({ table }) => table !== null && !table.startsWith("<"));
  expect(reads.length).toBeGreaterThan(3);
  for (const { table, type, rows } of reads) {
    expect(type, `how ${table} is read`).not.toBe("ALL");
    if (table === "servers" || table === "instances") continue;
    expect(Number(rows), `rows of ${table}`).toBeLessThanOrEqual(3 * LEAF);
  }
});
