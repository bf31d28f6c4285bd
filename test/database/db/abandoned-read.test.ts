/**
 * Reads whose callers leave: short statements end by themselves and keep their connection, long
 * ones are killed within half a second, and KILL never reaches a session of another server.
 */
import type { Knex } from "knex";
import { type Connection, createConnection } from "mysql2/promise";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type PrivateDatabase,
  startPrivateDatabase,
} from "../../../dev/private-database/private-database.ts";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { createPool } from "../../../src/db/pool.ts";
import { createRead, type Read } from "../../../src/db/query.ts";
import { ServiceError } from "../../../src/errors.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../support/database-proxy.ts";
import { until } from "../../support/poll.ts";
import { type ProcessList, watchProcesses } from "../../support/process-list.ts";

const { signal } = new AbortController();

/** A signal that aborts after some ms, as if the caller had cancelled. */
function cancelledAfter(ms: number): AbortSignal {
  const caller = new AbortController();
  setTimeout(() => caller.abort(new ServiceError("canceled")), ms);
  return caller.signal;
}

/** Resolves to how long a read took to be rejected as cancelled, in ms. */
async function untilCancelled(result: Promise<unknown>): Promise<number> {
  const started = performance.now();
  await expect(result).rejects.toMatchObject({ kind: "canceled" });
  return performance.now() - started;
}

describe("a read whose caller leaves", () => {
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
    pool = createPool(parseDatabaseUrl(proxy.url), { readOnly: true, maxConnections: 2 });
    read = createRead(pool);
  });
  afterEach(async () => {
    await pool.destroy();
    await proxy.close();
  });

  const idOf = async () => (await read("SELECT CONNECTION_ID()", [], { signal }))[0]?.[0];

  it("during a short statement is answered at once, and the connection is kept", async () => {
    const id = await idOf();
    const durations: number[] = [];
    for (let round = 0; round < 20; round++) {
      const result = read("SELECT SLEEP(0.05)", [], { signal: cancelledAfter(5) });
      durations.push(await untilCancelled(result));
    }
    expect(Math.min(...durations)).toBeLessThan(45);
    expect(await idOf()).toBe(id);
    expect(proxy.made()).toBe(1);
  });

  it("while its connection is being made leaves it to the next read", async () => {
    await untilCancelled(read("SELECT SLEEP(0.05)", [], { signal: cancelledAfter(0) }));
    await idOf();
    expect(proxy.made()).toBe(1);
  });

  it("during a long statement is answered at once, and it ends within half a second", async () => {
    const result = read("SELECT SLEEP(30)", [], { signal: cancelledAfter(300) });
    await until(10_000, async () => (await processes.running("SLEEP(30)")).length === 1);
    expect(await untilCancelled(result)).toBeLessThan(400);
    await until(500, async () => (await processes.running("SLEEP(30)")).length === 0);
    await until(500, () => proxy.connections() === 0);
    expect(await idOf()).toBeDefined();
  });

  it("during a long statement costs its own connection and no other", async () => {
    const ids = () =>
      Promise.all(
        ["1", "2"].map(async (owner) => {
          const rows = await read("SELECT CONNECTION_ID(), SLEEP(0.05)", [], { signal, owner });
          return rows[0]?.[0];
        }),
      );
    const before = await ids();
    const caller = new AbortController();
    const left = untilCancelled(read("SELECT SLEEP(30)", [], { signal: caller.signal }));
    // A statement that was not sent yet would cost no connection.
    await until(10_000, async () => (await processes.running("SLEEP(30)")).length === 1);
    caller.abort(new ServiceError("canceled"));
    await left;
    await until(10_000, () => proxy.connections() === 1);
    expect((await ids()).filter((id) => before.includes(id))).toHaveLength(1);
  });

  it("holds its place until the connection is free", async () => {
    await idOf(); // A new connection may take longer than the caller waits.
    await untilCancelled(read("SELECT SLEEP(0.2)", [], { signal: cancelledAfter(20) }));
    // Of two places one owner may hold one.
    const started = performance.now();
    await idOf();
    expect(performance.now() - started).toBeGreaterThan(100);
  });

  it("costs at most two connections at once for killing, and none is left", async () => {
    const wide = createPool(parseDatabaseUrl(proxy.url), { readOnly: true, maxConnections: 20 });
    const readWide = createRead(wide);
    const callers = new AbortController();
    const owners = Array.from({ length: 20 }, (_, index) => `${index}`);
    const results = owners.map((owner) =>
      untilCancelled(readWide("SELECT SLEEP(30)", [], { signal: callers.signal, owner })),
    );
    await until(10_000, async () => (await processes.running("SLEEP(30)")).length === 20);
    const made = proxy.made();
    callers.abort(new ServiceError("canceled"));
    await Promise.all(results);
    await until(10_000, async () => (await processes.running("SLEEP(30)")).length === 0);
    expect(proxy.made() - made).toBeLessThanOrEqual(2);
    await until(10_000, () => proxy.connections() === 0);
    await wide.destroy();
  });
});

describe.skipIf(process.env.DATABASE_URL)("behind a balancer with two servers", () => {
  let one: PrivateDatabase;
  let other: PrivateDatabase;
  let onOther: Connection;
  let proxy: DatabaseProxy;
  let pool: Knex;
  let read: Read;
  beforeAll(async () => {
    [one, other] = await Promise.all([
      startPrivateDatabase({ bufferPool: "64M" }),
      startPrivateDatabase({ bufferPool: "64M" }),
    ]);
    // The same account on both.
    onOther = await createConnection(other.url);
    const { username, password } = new URL(one.url);
    await onOther.query(`ALTER USER '${username}'@'%' IDENTIFIED BY '${password}'`);
  });
  afterAll(async () => {
    await onOther?.end();
    await Promise.all([one?.stop(), other?.stop()]);
  });
  beforeEach(async () => {
    proxy = await startDatabaseProxy(one.url);
    pool = createPool(parseDatabaseUrl(proxy.url), { readOnly: true, maxQueryMs: 1_500 });
    read = createRead(pool, { firstByteTimeout: 300 });
  });
  afterEach(async () => {
    await pool.destroy();
    await proxy.close();
  });

  /** A connection to the other server, which the balancer's account may use. */
  function connectToOther(): Promise<Connection> {
    const url = new URL(one.url);
    url.port = new URL(other.url).port;
    return createConnection(url.href);
  }

  it("an abandoned statement ends no session of the other server with its id", async () => {
    // The server's ids are ahead of the other's.
    for (let i = 0; i < 20; i++) await (await createConnection(one.url)).end();
    const id = Number((await read("SELECT CONNECTION_ID()", [], { signal }))[0]?.[0]);
    // Sessions of the other server, one of them with this id.
    const innocent: Connection[] = [];
    while (!innocent.some(({ threadId }) => threadId === id)) {
      innocent.push(await connectToOther());
      expect(innocent.at(-1)?.threadId).toBeLessThanOrEqual(id);
    }
    const onOne = await createConnection(one.url);

    proxy.route(other.url);
    const made = proxy.made();
    await untilCancelled(read("SELECT SLEEP(30)", [], { signal: cancelledAfter(50) }));
    await until(10_000, () => proxy.made() > made && proxy.connections() === 0);
    for (const connection of innocent) await connection.ping();
    // The server's own limit ends it.
    await until(2_500, async () => {
      const [rows] = await onOne.query("SHOW PROCESSLIST");
      return !(rows as { Info?: string }[]).some(({ Info }) => Info?.includes("SLEEP(30)"));
    });
    await Promise.all([...innocent, onOne].map((connection) => connection.end()));
  });

  it("a read on a connection whose server went silent is answered by the other", async () => {
    const port = async () => (await read("SELECT CAST(@@port AS CHAR)", [], { signal }))[0]?.[0];
    expect(await port()).toBe(new URL(one.url).port);
    proxy.silence();
    proxy.route(other.url);
    const started = performance.now();
    expect(await port()).toBe(new URL(other.url).port);
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  it("asking about a slow statement leaves no aborted client on its server", async () => {
    const onOne = await createConnection(one.url);
    const aborted = async () => {
      const [rows] = await onOne.query("SHOW GLOBAL STATUS LIKE 'Aborted_clients'");
      return Number((rows as { Value: string }[])[0]?.Value);
    };
    await read("SELECT 1", [], { signal });
    const [before, made] = [await aborted(), proxy.made()];
    await read("SELECT SLEEP(1)", [], { signal });
    expect(proxy.made() - made).toBeGreaterThan(1);
    await until(1_000, () => proxy.connections() === 1);
    expect(await aborted()).toBe(before);
    await onOne.end();
  });

  it("a slow statement is left alone if its server answers others meanwhile", async () => {
    await Promise.all([
      read("SELECT SLEEP(0.1)", [], { signal }),
      read("SELECT SLEEP(0.1)", [], { signal }),
    ]);
    const port = read("SELECT CAST(@@port AS CHAR), SLEEP(1)", [], { signal });
    proxy.route(other.url);
    const others = setInterval(() => read("SELECT 1", [], { signal }).catch(() => {}), 50);
    expect((await port)[0]?.[0]).toBe(new URL(one.url).port);
    clearInterval(others);
  });
});
