/**
 * Reads behind a balancer, one node of which is behind. The balancer is a proxy that leads new
 * connections to one of two databases, whose heartbeats the tests write.
 */
import type { Knex } from "knex";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fromDatetime, toDatetime } from "../../../src/db/datetime.ts";
import { limitAge } from "../../../src/db/freshness.ts";
import { createRead, type Read } from "../../../src/db/query.ts";
import { compileStatement } from "../../../src/db/statement.ts";
import { providersAfter } from "../../../src/revenue/platform/queries.ts";
import type { TestDatabase } from "../../support/database.ts";
import { testPool } from "../../support/database.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../support/database-proxy.ts";
import { databaseOfFile } from "../file-database.ts";
import { openConnections, signal } from "./reads.ts";

/** An hour: a heartbeat that is less old by a second stays so on a busy machine. */
const MAX_LAG = 3_600_000;

/** What provider 1 has in the wallet is "1.00" on a, and "2.00" on b. */
const [a, b] = [await createNode("1.00"), await createNode("2.00")];
let proxy: DatabaseProxy;
let pool: Knex;
let read: Read;
beforeEach(async () => {
  proxy = await startDatabaseProxy(a.url);
  pool = testPool(proxy.url, { readOnly: true, maxConnections: 4 });
  read = createRead(pool, { retryPauses: [0, 50, 50] });
});
afterEach(async () => {
  await pool.destroy();
  await proxy.close();
});

async function createNode(balance: string): Promise<TestDatabase> {
  const node = await databaseOfFile();
  await node.knex("wallets").insert({ provider_id: 1, available_balance: balance });
  return node;
}

/** Writes a node's heartbeat, so that it is some seconds old. */
async function beat({ knex }: TestDatabase, secondsAgo: number): Promise<void> {
  await knex.raw(
    `REPLACE INTO heartbeat VALUES (1, UTC_TIMESTAMP(3) - INTERVAL ${secondsAgo} SECOND)`,
  );
}

const lead = ({ url }: TestDatabase) => proxy.route(url);

const wallet = compileStatement(
  {
    wallet: {
      select: { balance: "MAX(available_balance)", slept: "SLEEP(:seconds)" },
      from: "wallets WHERE provider_id = :provider",
    },
  },
  "wallet",
);

/** Asks for a wallet, by an answer that is no older than the limit. */
async function ask(onAge?: (ms: number) => void) {
  const values = { provider: "1", seconds: "0" };
  const limited = limitAge(read, MAX_LAG, onAge);
  const { rows, asOf } = await limited(({ query }) => wallet.run(query, values), { signal });
  return { balance: rows.wallet[0]?.balance, asOf };
}

/** Opens some connections to a node, which are idle afterwards. */
function connectTo(node: TestDatabase, count: number): Promise<unknown> {
  lead(node);
  return openConnections(pool, count);
}

describe("a node that is behind by more than the limit", () => {
  beforeEach(async () => {
    await beat(a, 3_601);
    await beat(b, 1);
  });

  it("is left: the read is answered by another, and the connection to it is closed, and no other", async () => {
    await connectTo(b, 1);
    await connectTo(a, 3); // two of them to a
    lead(b);
    for (let nth = 0; nth < 5; nth++) expect(await ask()).toMatchObject({ balance: "2.00" });
    expect(proxy.made()).toBeLessThanOrEqual(5);
  });

  it("makes the database unavailable if there is no other, and says how old it is", async () => {
    const ages: number[] = [];
    await connectTo(a, 2);
    await expect(ask((age) => ages.push(age))).rejects.toMatchObject({
      kind: "databaseUnavailable",
      cause: {
        message: expect.stringMatching(/^the heartbeat is \d+ ms old, 3600000 ms are allowed/),
      },
    });
    // Of each of its tries.
    expect(ages.map((age) => age >= 3_601_000)).toEqual([true, true, true, true]);
  });
});

it.each([
  ["0", ["1", "2"]],
  ["2", [""]],
])(
  "a page of providers after %s, each row of which tells the instant, is as old as its heartbeat",
  async (after, ids) => {
    await a.knex("providers").insert([1, 2].map((id) => ({ id, name: "provider" })));
    await beat(a, 60);
    const limited = limitAge(read, MAX_LAG);
    const { rows, asOf } = await limited(({ query }) => providersAfter.run(query, { after }), {
      signal,
    });
    expect(rows.providers.map(({ id }) => id)).toEqual(ids);
    const { written_at } = await a.knex("heartbeat").first();
    expect(toDatetime(asOf)).toBe(written_at);
    await a.knex("providers").del();
  },
);

it("without a heartbeat the database is unavailable, and the cause says what to run", async () => {
  await a.knex("heartbeat").del();
  await expect(ask()).rejects.toMatchObject({
    kind: "databaseUnavailable",
    cause: { message: expect.stringContaining("run `npm run rollup -- --watch`") },
  });
});

it("an answer holds as of the heartbeat of its node, or of the node's clock if that is behind it", async () => {
  await beat(a, 30);
  const { asOf } = await ask();
  const [[{ at }]] = await a.knex.raw("SELECT written_at AS at FROM heartbeat");
  expect(toDatetime(asOf)).toBe(at);
  await beat(a, -600);
  const [[{ now }]] = await a.knex.raw("SELECT UTC_TIMESTAMP(3) AS now");
  const clock = (await ask()).asOf - fromDatetime(now);
  expect(clock >= 0 && clock < 600_000).toBe(true);
});
