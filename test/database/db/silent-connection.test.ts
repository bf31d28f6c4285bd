/**
 * Connections that die without a sign, as if the host of the database had lost power: a statement on
 * one is given up when the server must have ended it, and those that were idle meanwhile with it.
 */
import type { Knex } from "knex";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { createPool } from "../../../src/db/pool.ts";
import { createRead, type Read } from "../../../src/db/query.ts";
import { ServiceError } from "../../../src/errors.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../support/database-proxy.ts";
import { until } from "../../support/poll.ts";

/** After which time the server ends a statement, and its answer is given up, in ms. */
const MAX_STATEMENT = 500;
const GIVEN_UP = MAX_STATEMENT + 500;
const OWNERS = ["0", "1", "2", "3", "4", "5"];

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
  pool = createPool(parseDatabaseUrl(proxy.url), {
    readOnly: true,
    maxConnections: OWNERS.length,
    maxStatement: MAX_STATEMENT,
  });
  read = createRead(pool, { maxStatement: MAX_STATEMENT });
});
afterEach(async () => {
  await pool.destroy();
  await proxy.close();
});

const { signal } = new AbortController();

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
  it("one read waits until it is given up, and those after it use new connections", async () => {
    const ids = await fillPool();
    proxy.silence();
    const started = performance.now();
    await readOne();
    const first = performance.now() - started;
    expect(first).toBeGreaterThan(GIVEN_UP - 10);
    const next = performance.now();
    await Promise.all(OWNERS.map(readOne));
    // None of them waits for as long as the first one did.
    expect(performance.now() - next).toBeLessThan(first);
    const after = await fillPool();
    expect(ids.filter((id) => after.includes(id))).toEqual([]);
  });

  it("a read whose caller leaves first tells the others", async () => {
    await fillPool();
    proxy.silence();
    const caller = new AbortController();
    const result = read("SELECT '1'", [], { signal: caller.signal });
    setTimeout(() => caller.abort(new ServiceError("deadlineExceeded")), 50);
    await expect(result).rejects.toMatchObject({ kind: "deadlineExceeded" });
    await until(5 * GIVEN_UP, () => proxy.connections() === OWNERS.length - 1);
    const made = proxy.made();
    await Promise.all(OWNERS.map(readOne));
    expect(proxy.made()).toBeGreaterThan(made);
  });
});

it("while new connections are silent too the database is unavailable, and not for longer", async () => {
  await readOne();
  proxy.silence();
  proxy.silenceNew(true);
  await expect(readOne()).rejects.toMatchObject({ kind: "databaseUnavailable" });
  proxy.silenceNew(false);
  const outcome = () => readOne().catch(({ kind }) => kind);
  await expect.poll(outcome, { timeout: 10_000 }).toEqual([["1"]]);
});

it("a slow statement on a live connection runs once, and leaves the others alone", async () => {
  await fillPool();
  await read("SELECT SLEEP(0.4)", [], { signal });
  await fillPool();
  expect(proxy.connections()).toBe(proxy.made());
});
