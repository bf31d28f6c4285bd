/** More reads than connections: nobody takes all of them, and none waits in vain. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Knex } from "knex";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  type PrivateDatabase,
  startPrivateDatabase,
} from "../../../dev/private-database/private-database.ts";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { createPool } from "../../../src/db/pool.ts";
import { createRead, type Read } from "../../../src/db/query.ts";
import { ServiceError } from "../../../src/errors.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

const { signal } = new AbortController();

let pool: Knex;
let read: Read;
function openPool(url: string, maxConnections: number, poolWait?: number): void {
  pool = createPool(parseDatabaseUrl(url), { readOnly: true, maxConnections });
  read = createRead(pool, poolWait === undefined ? {} : { poolWait });
}
afterEach(() => pool.destroy());

/** The outcomes of reads, counted: "ok", or the kind of the error. */
async function countOutcomes(
  results: readonly Promise<unknown>[],
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const result of await Promise.allSettled(results)) {
    const { kind } =
      result.status === "rejected" ? (result.reason as ServiceError) : { kind: "ok" };
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

const readMany = (count: number, sql: string, owner: string, caller = signal) =>
  Array.from({ length: count }, () => read(sql, [], { signal: caller, owner }));

describe("a crowded pool", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());

  it("answers an owner at once while another has a thousand slow reads", async () => {
    openPool(database.url, 10);
    const busy = countOutcomes(readMany(1_000, "SELECT SLEEP(0.3)", "busy"));
    await sleep(200);
    const durations: number[] = [];
    for (let n = 0; n < 100; n++) {
      const started = performance.now();
      await read("SELECT '1'", [], { signal, owner: "quiet" });
      durations.push(performance.now() - started);
      await sleep(10);
    }
    // On a busy machine, a few may take longer.
    expect(durations.sort((a, b) => a - b)[90]).toBeLessThan(150);
    // Five at once for two seconds; then the others have waited for long enough.
    const { ok = 0, overloaded = 0 } = await busy;
    expect(ok + overloaded).toBe(1_000);
    expect(ok).toBeGreaterThanOrEqual(20);
    expect(ok).toBeLessThanOrEqual(45);
  });

  it("of one connection serves owners in turn", async () => {
    openPool(database.url, 1, 60_000);
    const order: string[] = [];
    const note = (owner: string) => () => order.push(owner);
    await Promise.all([
      ...readMany(10, "SELECT '1'", "a").map((result) => result.then(note("a"))),
      ...readMany(3, "SELECT '1'", "b").map((result) => result.then(note("b"))),
    ]);
    expect(order.join("")).toBe("aabababaaaaaa");
  });

  it("is whole again after thousands of callers have left while they waited", async () => {
    openPool(database.url, 3);
    const slow = readMany(2, "SELECT SLEEP(0.3)", "a");
    for (let round = 0; round < 5; round++) {
      const caller = new AbortController();
      const left = ["a", "b", "c"].flatMap((owner) =>
        readMany(500, "SELECT SLEEP(0.001)", owner, caller.signal),
      );
      const outcomes = countOutcomes(left);
      await sleep(20);
      caller.abort(new ServiceError("canceled"));
      const { ok = 0, canceled = 0 } = await outcomes;
      expect(ok + canceled).toBe(1_500);
    }
    expect(await countOutcomes(slow)).toEqual({ ok: 2 });
    expect(await countOutcomes(readMany(100, "SELECT '1'", "b"))).toEqual({ ok: 100 });
  });
});

describe.skipIf(process.env.DATABASE_URL)("while five hundred reads wait", () => {
  let server: PrivateDatabase;
  beforeAll(async () => {
    server = await startPrivateDatabase({ bufferPool: "64M" });
  });
  afterAll(() => server?.stop());

  const readByMany = () =>
    Array.from({ length: 50 }, (_, owner) => readMany(10, "SELECT SLEEP(0.05)", `${owner}`)).flat();

  it("a database that is killed ends them all as unavailable or overloaded, soon", async () => {
    openPool(server.url, 10);
    const started = performance.now();
    const outcomes = countOutcomes(readByMany());
    await sleep(200);
    await server.kill();
    const { ok = 0, overloaded = 0, databaseUnavailable = 0 } = await outcomes;
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(databaseUnavailable).toBeGreaterThan(0);
    expect(ok + overloaded + databaseUnavailable).toBe(500);
    await server.start();
    expect(await countOutcomes(readMany(100, "SELECT '1'", "a"))).toEqual({ ok: 100 });
  });

  it("a database that stops responding ends them as overloaded, and is used again at once", async () => {
    openPool(server.url, 10);
    await Promise.all(readMany(5, "SELECT SLEEP(0.05)", "a"));
    await server.suspend();
    const outcomes = countOutcomes(readByMany());
    await sleep(2_500);
    server.resume();
    const resumed = performance.now();
    await read("SELECT '1'", [], { signal });
    expect(performance.now() - resumed).toBeLessThan(200);
    const { ok = 0, overloaded = 0, databaseUnavailable = 0 } = await outcomes;
    expect(ok + overloaded + databaseUnavailable).toBe(500);
    expect(overloaded).toBeGreaterThan(400);
  });
});
