/**
 * A session that fails is left, whatever the error: its connection is closed, a read that ran on a
 * pooled connection is run again on a new one, and the error is never `internal`.
 */
import type { Knex } from "knex";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { FAILED_SESSION } from "../../../src/db/driver-error.ts";
import { createPool } from "../../../src/db/pool.ts";
import { createRead, type Read } from "../../../src/db/query.ts";
import { ServiceError } from "../../../src/errors.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../support/database-proxy.ts";
import { until } from "../../support/poll.ts";

let database: TestDatabase;
let proxy: DatabaseProxy;
let pool: Knex;
let read: Read;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  proxy = await startDatabaseProxy(database.url);
  pool = createPool(parseDatabaseUrl(proxy.url), { readOnly: true, maxConnections: 4 });
  read = createRead(pool, { retryPauses: [0, 1, 1] });
});
afterEach(async () => {
  await pool.destroy();
  await proxy.close();
});

const { signal } = new AbortController();

/** The id of the session that answers a read. */
const sessionId = async () => (await read("SELECT CONNECTION_ID()", [], { signal }))[0]?.[0];

/** The kind of a read's error; undefined if it has none. */
const errorOf = (result: Promise<unknown>) =>
  result.then(
    () => undefined,
    (thrown) => (thrown instanceof ServiceError ? thrown.kind : thrown),
  );

/** Opens four connections, which are idle afterwards. */
const fillPool = () =>
  Promise.all(
    ["1", "2", "3", "4"].map((owner) => read("SELECT SLEEP(0.05)", [], { signal, owner })),
  );

/** The list of errors, from the servers' and proxies' own documentation. */
const ERRNOS = [
  ...[1047, 1053, 1105, 1205, 1213, 1243, 1290, 1461, 1615, 1836, 1927, 2013, 3032, 4031],
  ...[8028, 9001, 9005],
];

it.each([...new Set([...ERRNOS, ...FAILED_SESSION.keys()])])(
  "after error %i on a pooled connection the read is answered on another",
  async (errno) => {
    const before = await sessionId();
    proxy.inject({ errno });
    expect(await sessionId()).not.toBe(before);
    expect(proxy.made()).toBe(2);
    await until(10_000, () => proxy.connections() === 1);
  },
);

it.each(ERRNOS)("error %i on all pooled connections costs no read its answer", async (errno) => {
  await fillPool();
  proxy.inject({ errno, times: 100, open: true });
  const owners = ["1", "2", "3", "4"];
  const rows = owners.map((owner) => read("SELECT '1'", [], { signal, owner }));
  expect(await Promise.all(rows)).toEqual(owners.map(() => [["1"]]));
  // None of the four is left.
  await fillPool();
  expect(proxy.connections()).toBe(4);
  expect(proxy.made()).toBe(8);
});

it.each(ERRNOS)("error %i on two new connections too costs no answer", async (errno) => {
  await sessionId();
  proxy.inject({ errno, times: 3 });
  expect(await errorOf(sessionId())).toBeUndefined();
  expect(proxy.made()).toBe(4);
  await until(10_000, () => proxy.connections() === 1);
});

it.each(ERRNOS)(
  "error %i on three of them is the database being unavailable, and the next read is answered",
  async (errno) => {
    const before = await sessionId();
    proxy.inject({ errno, times: 4 });
    expect(await errorOf(sessionId())).toBe("databaseUnavailable");
    await until(10_000, () => proxy.connections() === 0);
    const after = await sessionId();
    expect(after).not.toBe(before);
    expect(await sessionId()).toBe(after);
  },
);

it("the pause before another try ends if the caller leaves, and the place is free again", async () => {
  const caller = new AbortController();
  const alone = createPool(parseDatabaseUrl(proxy.url), { maxConnections: 1 });
  try {
    proxy.inject({ errno: 1047 });
    const readAlone = createRead(alone, { retryPauses: [600_000] });
    const left = readAlone("SELECT '1'", [], { signal: caller.signal });
    await until(5_000, () => proxy.made() === 1 && proxy.connections() === 0);
    caller.abort(new ServiceError("canceled"));
    expect(await errorOf(left)).toBe("canceled");
    expect(await readAlone("SELECT '2'", [], { signal })).toEqual([["2"]]);
  } finally {
    await alone.destroy();
  }
});

it("a connection that the pool made and nobody has used yet counts as an old one", async () => {
  await pool.raw("SELECT 1"); // Knex uses it, no read has
  proxy.inject({ errno: 1290 });
  expect(await errorOf(sessionId())).toBeUndefined();
});

it("an error in preparing the statement is treated as one in running it", async () => {
  await sessionId();
  proxy.inject({ errno: 1047, sqlState: "08S01", command: "prepare" });
  expect(await errorOf(read("SELECT '2'", [], { signal }))).toBeUndefined();
});

it("any error of the class of connection exceptions is treated alike", async () => {
  const before = await sessionId();
  proxy.inject({ errno: 12_345, sqlState: "08999" });
  expect(await sessionId()).not.toBe(before);
});

it("an error of the statement keeps the connection", async () => {
  const before = await sessionId();
  expect(await errorOf(read("SELECT x FROM nowhere", [], { signal }))).toBe("internal");
  proxy.inject({ errno: 1317 });
  expect(await errorOf(sessionId())).toBe("databaseUnavailable");
  expect(await sessionId()).toBe(before);
});

describe("a session that cannot be set up", () => {
  it("is closed, and another is made: four in all", async () => {
    proxy.inject({ errno: 1047, command: "query", times: 3 });
    expect(await errorOf(sessionId())).toBeUndefined();
    expect(proxy.made()).toBe(4);
    await until(10_000, () => proxy.connections() === 1);
    await pool.destroy();
    pool.initialize();
    proxy.inject({ errno: 1047, command: "query", times: 4 });
    expect(await errorOf(sessionId())).toBe("databaseUnavailable");
    await until(10_000, () => proxy.connections() === 0);
    expect(await errorOf(sessionId())).toBeUndefined();
  });

  it.each([
    ["before it is made", () => proxy.silenceNew(true)],
    ["while it is set up", () => proxy.inject({ command: "query", times: 4 })],
  ])("because the server falls silent %s is closed too, and takes no place", async (_, fail) => {
    fail();
    const started = performance.now();
    const owners = ["1", "2", "3", "4"];
    const results = owners.map((owner) => errorOf(read("SELECT '1'", [], { signal, owner })));
    expect(await Promise.all(results)).toEqual(owners.map(() => "databaseUnavailable"));
    expect(performance.now() - started).toBeLessThan(3_000);
    await until(10_000, () => proxy.connections() === 0);
    proxy.silenceNew(false);
    await fillPool();
  });
});
