/**
 * A rollup that moved on after its totals were cached: the statement that uses them costs its
 * check, and not a pass over the ledger.
 */
import type { Knex } from "knex";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseDatabaseUrl } from "../../../../src/config.ts";
import { toDatetime } from "../../../../src/db/datetime.ts";
import { createPool } from "../../../../src/db/pool.ts";
import { createRead, type Read } from "../../../../src/db/query.ts";
import { createRevenueService, type RevenueFunctions } from "../../../../src/revenue/service.ts";
import { refresh } from "../../../../src/rollup/write/refresh.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { breakdownOf, overviewOf } from "../../../support/ledger/call.ts";
import { addBulk } from "../../../support/rollup/bulk.ts";
import { recordStatements, type StatementName } from "../../../support/statements.ts";
import { build } from "../write/built.ts";

const DAY = 86_400_000;
const NOW = Date.now();
const PERIOD = ["0001-01-01", "9999-12-31"] as const;
/** A provider with a ledger of 200,000 charges, and one with 20,000. */
const [LARGE, SMALL] = [1, 2];
/** A provider with many servers, instances and running rentals. */
const WIDE = 3;
/** The check, short edges and the servers of an overview. */
const MAX_ROWS = 100;
/** In ms. Reading the whole ledger takes ten callers several times as long. */
const DEADLINE = 400;

let database: TestDatabase;
/** A pool of one connection, so that the session's counters count what is read through it. */
let session: Knex;
beforeAll(async () => {
  database = await createDatabase();
  session = createPool(parseDatabaseUrl(database.url), { maxConnections: 1 });
  await addBulk(database.knex, [
    { provider: LARGE, servers: 20, instances: 40, charges: 200_000, rentals: 1_000 },
    { provider: SMALL, servers: 20, instances: 40, charges: 20_000, rentals: 1_000 },
    { provider: WIDE, servers: 300, instances: 300, charges: 3_000 },
  ]);
}, 60_000);
afterAll(async () => {
  await session.destroy();
  await database.drop();
});

const rollUpTo = (provider: number, ago: number) =>
  build(database.knex, String(provider), toDatetime(NOW - ago), 2_000);

const call = (service: RevenueFunctions, provider: number, rpc: string) =>
  rpc === "overview"
    ? overviewOf(service, BigInt(provider), new Date(NOW).toISOString())
    : breakdownOf(service, BigInt(provider), new Date(NOW).toISOString(), ...PERIOD);

/** A `Read` that counts the rows that each statement reads. */
function counting(read: Read): { readonly read: Read; readonly rows: number[] } {
  const rows: number[] = [];
  const count = async () => {
    const [status] = await session.raw("SHOW SESSION STATUS LIKE 'Handler_read%'");
    return status.reduce((sum: number, row: { Value: string }) => sum + Number(row.Value), 0);
  };
  return {
    rows,
    async read(...statement) {
      const before = await count();
      const overhead = (await count()) - before;
      const result = await read(...statement);
      rows.push((await count()) - before - 2 * overhead);
      return result;
    },
  };
}

describe.each([
  ["overview", ["uncoveredOverview", "fullOverview"]],
  ["breakdown", ["uncoveredBreakdown", "breakdownCheckpoints", "fullBreakdown"]],
] as const)("%s", (rpc, statements) => {
  it.each([
    ["the first rollup", () => {}, () => rollUpTo(SMALL, 0)],
    [
      "a rebuild up to a later watermark",
      () => rollUpTo(SMALL, 300 * DAY),
      () => rollUpTo(SMALL, 0),
    ],
  ])("after %s, the cached totals cost few rows", async (_, prepare, moveOn) => {
    for (const table of ["rollups", "rollup_checkpoints", "rollup_figures", "rollup_months"]) {
      await database.knex(table).del();
    }
    await prepare();
    const { read, takeNames } = recordStatements(createRead(session));
    const counter = counting(read);
    const service = createRevenueService(counter.read);
    const before = await call(service, SMALL, rpc);
    await moveOn();
    takeNames();
    counter.rows.splice(0);
    expect(await call(service, SMALL, rpc)).toEqual(before);
    expect(takeNames()).toEqual<StatementName[]>([...statements]);
    const [checked = Infinity] = counter.rows;
    expect(checked).toBeLessThan(MAX_ROWS);
  });
});

it("with many instances, outdated totals cost only the check", async () => {
  await rollUpTo(WIDE, 300 * DAY);
  const { read, takeNames } = recordStatements(createRead(session));
  const counter = counting(read);
  const service = createRevenueService(counter.read);
  const before = await call(service, WIDE, "breakdown");
  expect(await call(service, WIDE, "breakdown")).toEqual(before);
  const [, completed] = counter.rows.splice(0);
  expect(completed).toBeGreaterThan(900); // 300 servers, 300 instances and their running rentals
  await rollUpTo(WIDE, 0);
  takeNames();
  expect(await call(service, WIDE, "breakdown")).toEqual(before);
  const statements = ["uncoveredBreakdown", "breakdownCheckpoints", "fullBreakdown"] as const;
  expect(takeNames()).toEqual<StatementName[]>([...statements]);
  const [checked] = counter.rows;
  expect(checked).toBeLessThan(20);
});

it("after refreshes, only the totals that they changed are read again", async () => {
  await rollUpTo(WIDE, 0);
  const { read, takeNames } = recordStatements(createRead(session));
  const counter = counting(read);
  const service = createRevenueService(counter.read);
  const [start, now] = [new Date(NOW - 400 * DAY).toISOString(), new Date(NOW).toISOString()];
  const ask = () => breakdownOf(service, BigInt(WIDE), now, start, now);
  /** Records a charge and refreshes, twice. Resolves to the rows that the next full query reads. */
  const refreshed = async (chargedAt: number) => {
    const charge = { provider_id: WIDE, server_id: WIDE * 1_000 + 1, gross: "0.00" };
    for (let time = 0; time < 2; time++) {
      await database.knex("charges").insert({ ...charge, charged_at: toDatetime(chargedAt) });
      await database.knex.raw("DO SLEEP(0.002)");
      const [[{ until }]] = await database.knex.raw("SELECT UTC_TIMESTAMP(3) AS until");
      await refresh(database.knex, [{ provider: String(WIDE), size: 2_000 }], until);
    }
    takeNames();
    counter.rows.splice(0);
    await ask();
    expect(takeNames()).toEqual<StatementName[]>(["uncoveredBreakdown", "fullBreakdown"]);
    return counter.rows.at(-1) ?? Infinity;
  };
  await ask();
  const [all, last] = [await refreshed(NOW - 700 * DAY), await refreshed(NOW - DAY)];
  expect(all - last).toBeGreaterThan(300); // the totals at the start, and the charges beside them
});

it("ten callers with a short deadline all recover after the first rollup of a large ledger", async () => {
  await database.knex("rollups").del();
  const knex = createPool(parseDatabaseUrl(database.url), { maxConnections: 10 });
  try {
    const { read, takeNames } = recordStatements(createRead(knex));
    /** Ends each read at the deadline. */
    const hurried: Read = (sql, bindings, options) =>
      read(sql, bindings, { ...options, signal: AbortSignal.timeout(DEADLINE) });
    let deadline = false;
    const service = createRevenueService((...args) => (deadline ? hurried : read)(...args));
    const callers = Array.from({ length: 10 }, (_, index) => index % 2);
    const round = () =>
      Promise.allSettled(
        callers.map((odd) => call(service, LARGE, odd ? "overview" : "breakdown")),
      );
    const [breakdown, overview] = [
      await call(service, LARGE, "breakdown"),
      await call(service, LARGE, "overview"),
    ];
    await rollUpTo(LARGE, 0);
    takeNames();
    deadline = true;
    const answers = await round();
    expect(answers.map(({ status }) => status)).toEqual(callers.map(() => "fulfilled"));
    for (const [index, answer] of answers.entries()) {
      expect(answer).toMatchObject({ value: callers[index] ? overview : breakdown });
    }
    expect(takeNames()).toContain("uncoveredBreakdown"); // the outdated totals were tried
    await round();
    expect(new Set(takeNames())).toEqual(new Set(["uncoveredOverview", "uncoveredBreakdown"]));
  } finally {
    await knex.destroy();
  }
});
