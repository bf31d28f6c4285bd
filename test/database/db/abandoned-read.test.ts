/**
 * Reads whose callers leave: they are answered at once, their statement goes on until it ends by
 * itself or the server ends it, and holds its place in its owner's share until then.
 */
import type { Knex } from "knex";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { createPool } from "../../../src/db/pool.ts";
import { createRead, type Read } from "../../../src/db/query.ts";
import { ServiceError } from "../../../src/errors.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../support/database-proxy.ts";
import { until } from "../../support/poll.ts";
import { type ProcessList, watchProcesses } from "../../support/process-list.ts";

const { signal } = new AbortController();

/** After which time the server ends a statement, in ms. */
const MAX_STATEMENT = 1_500;

/** A signal that aborts after some ms: the caller has cancelled. */
function cancelledAfter(ms: number): AbortSignal {
  const caller = new AbortController();
  setTimeout(() => caller.abort(new ServiceError("canceled")), ms);
  return caller.signal;
}

const expectCancelled = (result: Promise<unknown>) =>
  expect(result).rejects.toMatchObject({ kind: "canceled" });

let database: TestDatabase;
let processes: ProcessList;
let proxy: DatabaseProxy;
let pool: Knex;
let read: Read;
beforeAll(async () => {
  database = await createDatabase();
  processes = await watchProcesses(database.name);
});
afterAll(async () => {
  await processes.close();
  await database.drop();
});
beforeEach(async () => {
  proxy = await startDatabaseProxy(database.url);
  const options = { readOnly: true, maxConnections: 4, maxStatement: MAX_STATEMENT };
  pool = createPool(parseDatabaseUrl(proxy.url), options);
  read = createRead(pool, { maxStatement: MAX_STATEMENT, poolWait: 10_000 });
});
afterEach(async () => {
  await pool.destroy();
  await proxy.close();
});

const idOf = async (owner = "") =>
  (await read("SELECT CONNECTION_ID()", [], { signal, owner }))[0]?.[0];
const sleeping = () => processes.running("SLEEP(30)");

it("a read whose caller leaves during a short statement costs no connection", async () => {
  for (let round = 0; round < 20; round++) {
    await expectCancelled(read("SELECT SLEEP(0.05)", [], { signal: cancelledAfter(5) }));
  }
  await idOf();
  // Of four places one owner has two.
  expect(proxy.made()).toBeLessThanOrEqual(2);
});

it("a read whose caller leaves while its connection is made runs nothing", async () => {
  const caller = new AbortController();
  const left = read("SELECT SLEEP(30)", [], { signal: caller.signal });
  const next = idOf();
  caller.abort(new ServiceError("canceled"));
  await expectCancelled(left);
  await next;
  expect(await sleeping()).toEqual([]);
});

it("a read whose caller leaves is answered at once; the server ends its statement", async () => {
  const caller = new AbortController();
  const left = read("SELECT SLEEP(30)", [], { signal: caller.signal });
  await until(10_000, async () => (await sleeping()).length === 1);
  caller.abort(new ServiceError("canceled"));
  await expectCancelled(left);
  expect(await sleeping()).toHaveLength(1);
  await until(5 * MAX_STATEMENT, async () => (await sleeping()).length === 0);
  // The session has answered, so it is used again.
  await idOf();
  expect(proxy.made()).toBe(1);
});

it("an owner that leaves all of its reads fills its own share of the pool, and no more", async () => {
  for (let round = 0; round < 50; round++) {
    const caller = new AbortController();
    const left = read("SELECT SLEEP(30)", [], { signal: caller.signal, owner: "leaving" });
    if (round < 2) await until(10_000, async () => (await sleeping()).length === round + 1);
    caller.abort(new ServiceError("canceled"));
    await expectCancelled(left);
  }
  expect(await sleeping()).toHaveLength(2);
  await idOf("another");
  expect(await sleeping()).toHaveLength(2);
  // Its own next read waits for one of them.
  await idOf("leaving");
  expect((await sleeping()).length).toBeLessThan(2);
});
