/**
 * Connections that die without a sign: a read on one is run again on a new connection, the others
 * of the pool are not trusted any more, and a slow statement on a live one is left alone.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Knex } from "knex";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { createPool } from "../../../src/db/pool.ts";
import { createRead, type Read } from "../../../src/db/query.ts";
import { ServiceError } from "../../../src/errors.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../support/database-proxy.ts";
import { until } from "../../support/poll.ts";
import { type ProcessList, watchProcesses } from "../../support/process-list.ts";
import { lockTable } from "../../support/service/table-lock.ts";

/** After how long without an answer the server is asked, in ms. */
const TIMEOUT = 300;
/** The default, which some of the tests use, in ms. */
const DEFAULT_TIMEOUT = 1_500;
const POOL_SIZE = 6;
const OWNERS = Array.from({ length: POOL_SIZE }, (_, index) => `${index}`);

let database: TestDatabase;
let processes: ProcessList;
let proxy: DatabaseProxy;
let pool: Knex;
let read: Read;
beforeAll(async () => {
  database = await createDatabase();
  await database.knex.destroy();
  processes = await watchProcesses(database.name);
});
afterAll(async () => {
  await processes.close();
  await database.drop();
});
beforeEach(async () => {
  proxy = await startDatabaseProxy(database.url);
  pool = createPool(parseDatabaseUrl(proxy.url), { readOnly: true, maxConnections: POOL_SIZE });
  read = createRead(pool, { firstByteTimeout: TIMEOUT });
});
afterEach(async () => {
  await pool.destroy();
  await proxy.close();
});

const { signal } = new AbortController();

/** How long work takes, in ms. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Opens all connections of the pool. Resolves to the ids of their sessions. */
const fillPool = () =>
  Promise.all(
    OWNERS.map(async (owner) => {
      const rows = await read("SELECT CONNECTION_ID(), SLEEP(0.1)", [], { signal, owner });
      return Number(rows[0]?.[0]);
    }),
  );

const readOne = (owner = "") => read("SELECT '1'", [], { signal, owner });

describe("when all pooled connections die without a sign", () => {
  it("one read waits, and those after it are answered at once", async () => {
    const ids = await fillPool();
    proxy.silence();
    const first = await timed(readOne);
    expect(first).toBeGreaterThan(TIMEOUT - 10);
    expect(first).toBeLessThan(TIMEOUT + 700);
    expect(await timed(() => Promise.all(OWNERS.map(readOne)))).toBeLessThan(200);
    // None is used again, and the session that was asked after is ended on the server.
    const after = await fillPool();
    expect(ids.filter((id) => after.includes(id))).toEqual([]);
    const open = await processes.connections();
    expect(ids.filter((id) => !open.includes(id))).toHaveLength(1);
  });

  it("the other pools of the process do not wait again", async () => {
    const other = createPool(parseDatabaseUrl(proxy.url), { readOnly: true });
    const readOther = createRead(other, { firstByteTimeout: TIMEOUT });
    await readOther("SELECT '1'", [], { signal });
    await fillPool();
    proxy.silence();
    await readOne();
    expect(await timed(() => readOther("SELECT '1'", [], { signal }))).toBeLessThan(200);
    await other.destroy();
  });

  it("all is right again within 3 s by default", async () => {
    read = createRead(pool);
    await fillPool();
    proxy.silence();
    const first = await timed(readOne);
    expect(first).toBeGreaterThan(DEFAULT_TIMEOUT - 10);
    expect(first).toBeLessThan(2_500);
    expect(await timed(readOne)).toBeLessThan(200);
  });

  it("under load all reads are answered, within 3 s by default", async () => {
    read = createRead(pool);
    await fillPool();
    const durations: number[] = [];
    let stopped = false;
    const caller = async (owner: string) => {
      while (!stopped) durations.push(await timed(() => readOne(owner)));
    };
    const callers = [...OWNERS, ...OWNERS].map(caller);
    await sleep(100);
    proxy.silence();
    await sleep(3_000);
    const before = durations.length;
    await sleep(200);
    stopped = true;
    await Promise.all(callers);
    expect(durations.length - before).toBeGreaterThan(100);
    expect(Math.max(...durations)).toBeLessThan(3_000);
  });

  it("in the middle of a statement it is run again", async () => {
    await readOne();
    const result = read("SELECT CAST(SLEEP(0.4) AS CHAR)", [], { signal });
    await until(10_000, async () => (await processes.running("SLEEP(0.4)")).length === 1);
    proxy.silence();
    expect(await result).toEqual([["0"]]);
  });

  it("a read whose caller leaves first tells the others", async () => {
    read = createRead(pool);
    await fillPool();
    proxy.silence();
    const caller = new AbortController();
    const result = read("SELECT '1'", [], { signal: caller.signal });
    setTimeout(() => caller.abort(new ServiceError("deadlineExceeded")), 100);
    await expect(result).rejects.toMatchObject({ kind: "deadlineExceeded" });
    await sleep(500);
    expect(await timed(() => Promise.all(OWNERS.map(readOne)))).toBeLessThan(300);
  });

  it("their sockets do not stay open", async () => {
    const connection = await pool.client.acquireConnection();
    pool.client.releaseConnection(connection);
    proxy.silence();
    await readOne();
    expect(connection.stream.destroyed).toBe(true);
  });
});

it("while new connections are silent too a read waits, and is answered when they are not", async () => {
  await readOne();
  proxy.silence();
  proxy.silenceNew(true);
  const result = readOne();
  await sleep(2_500);
  proxy.silenceNew(false);
  expect(await timed(() => result)).toBeLessThan(2_500);
});

it("a read for which no connection can be made says so, without the words of the pool", async () => {
  proxy.silenceNew(true);
  pool.client.config.acquireConnectionTimeout = TIMEOUT;
  pool.client.pool.acquireTimeoutMillis = TIMEOUT;
  const error = await readOne().catch((thrown) => thrown);
  expect(error).toMatchObject({ kind: "databaseUnavailable" });
  expect(error.cause.message).toBe(`no connection to the database within ${TIMEOUT} ms`);
  expect(error.cause.stack).not.toContain("knex");
});

it("a slow statement on a live connection runs once, also if it is slower than the timeout", async () => {
  const id = (await read("SELECT CONNECTION_ID()", [], { signal }))[0]?.[0];
  const result = read("SELECT CONNECTION_ID(), SLEEP(1.5)", [], { signal });
  let most = 0;
  const watch = setInterval(async () => {
    most = Math.max(most, (await processes.running("SLEEP(1.5)")).length);
  }, 50);
  const [row] = await result;
  clearInterval(watch);
  expect(row?.[0]).toBe(id);
  expect(most).toBe(1);
});

it("a statement that waits for a lock counts as running", async () => {
  await readOne();
  await using lock = await lockTable(database, "charges");
  const result = read("SELECT COUNT(*) FROM charges", [], { signal });
  await sleep(4 * TIMEOUT);
  expect(await processes.running("COUNT(*) FROM charges")).toHaveLength(1);
  await lock.release();
  expect(await result).toEqual([["0"]]);
});
