/**
 * Reads: their rows, their limits, and callers that leave. Those are answered at once; their statement
 * goes on until the server ends it, and holds its place in its owner's share until then.
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
import { type ProcessList, watchProcesses } from "../../support/process-list.ts";

/** Takes longer than any test, unless something ends it. */
const SLOW = "SELECT COUNT(*) AS slow FROM providers WHERE SLEEP(30) = 0";
const MAX_CONNECTIONS = 4;
/** After which time the server ends a statement, in ms. */
const MAX_STATEMENT = 2_000;

let database: TestDatabase;
let processes: ProcessList;
let proxy: DatabaseProxy;
let pool: Knex;
let read: Read;
beforeAll(async () => {
  database = await createDatabase();
  await database.knex("providers").insert({ id: 1, name: "provider" });
  processes = await watchProcesses(database.name);
});
afterAll(async () => {
  await processes.close();
  await database.drop();
});
beforeEach(async () => {
  proxy = await startDatabaseProxy(database.url);
  usePool({ maxStatement: MAX_STATEMENT, poolWait: 60_000 });
});
afterEach(async () => {
  await pool.destroy();
  await proxy.close();
});

/** Makes the pool of the following reads. It connects with the first of them. */
function usePool(options: { readonly maxStatement: number; readonly poolWait: number }): void {
  pool = createPool(parseDatabaseUrl(proxy.url), {
    ...{ readOnly: true, maxConnections: MAX_CONNECTIONS, maxStatement: options.maxStatement },
  });
  read = createRead(pool, { ...options, retryPauses: [0, 1, 1] });
}

const { signal } = new AbortController();

/** The rows of a read, or the kind of its error. */
const outcomeOf = (result: Promise<unknown>) =>
  result.catch((thrown) => (thrown instanceof ServiceError ? thrown.kind : thrown));
const readOne = (owner = "") => outcomeOf(read("SELECT '1'", [], { signal, owner }));
const slowStatements = async () => (await processes.running("AS slow")).length;
const untilSlow = (count: number) => until(10_000, async () => (await slowStatements()) === count);
const readSlowly = (caller: AbortController, owner = "") =>
  outcomeOf(read(SLOW, [], { signal: caller.signal, owner }));

describe("a read", () => {
  it("resolves to rows of columns in order, each as text or null", async () => {
    const sql = "SELECT ?, CAST(0.10 AS DECIMAL(14, 2)), NULL, CAST(? AS CHAR)";
    expect(await read(sql, ["a", "18446744073709551615"], { signal })).toEqual([
      ["a", "0.10", null, "18446744073709551615"],
    ]);
  });

  it("rejects as internal if the statement fails, with the driver's error as the cause", async () => {
    const error = await read("SELECT x FROM nowhere", [], { signal }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(ServiceError);
    expect([error.kind, error.message]).toEqual([
      "internal",
      "an error occurred while retrieving revenue data",
    ]);
    expect(error.cause).toMatchObject({ code: "ER_NO_SUCH_TABLE" });
  });

  it("rejects a statement other than SELECT, and takes no connection for it", async () => {
    await expect(read("DELETE FROM providers", [], { signal })).rejects.toThrow(
      "expected a statement that starts with SELECT",
    );
    expect(proxy.made()).toBe(0);
  });

  it("rejects with the reason of a signal that has already aborted", async () => {
    const aborted = AbortSignal.abort(new ServiceError("canceled"));
    expect(await outcomeOf(read("SELECT '1'", [], { signal: aborted }))).toBe("canceled");
  });

  it("is ended by the server at its own limit", async () => {
    expect(await outcomeOf(read(SLOW, [], { signal }))).toBe("deadlineExceeded");
    await untilSlow(0);
    expect(await readOne()).toEqual([["1"]]);
    expect(proxy.made()).toBe(1);
  });
});

describe("a caller that leaves", () => {
  it("is answered at once, and the server ends its statement and no other", async () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const left = readSlowly(one, "1");
    const stayed = outcomeOf(read("SELECT SLEEP(0.3)", [], { signal: other.signal, owner: "2" }));
    await untilSlow(1);
    one.abort(new ServiceError("canceled"));
    expect(await left).toBe("canceled");
    expect(await slowStatements()).toBe(1);
    expect(await stayed).toEqual([[0]]);
    await untilSlow(0);
    // The sessions have answered, so they are used again.
    await Promise.all(["1", "2"].map(readOne));
    expect(proxy.made()).toBe(2);
  });

  it("while its connection is made runs nothing", async () => {
    const caller = new AbortController();
    const left = readSlowly(caller);
    const next = readOne();
    caller.abort(new ServiceError("canceled"));
    expect(await left).toBe("canceled");
    await next;
    expect(await slowStatements()).toBe(0);
  });

  it("with all of its reads fills its own share of the pool, and no more", async () => {
    for (let round = 0; round < 50; round++) {
      const caller = new AbortController();
      const left = readSlowly(caller, "leaving");
      if (round < 2) await untilSlow(round + 1);
      caller.abort(new ServiceError("canceled"));
      expect(await left).toBe("canceled");
    }
    expect(await slowStatements()).toBe(2);
    expect(await readOne("another")).toEqual([["1"]]);
    expect(await slowStatements()).toBe(2);
    // Its own next read waits for one of them.
    await readOne("leaving");
    expect(await slowStatements()).toBeLessThan(2);
  });

  it("while it waits, as thousands do, leaves a pool that is whole", async () => {
    const slow = ["1", "2"].map((owner) => read("SELECT SLEEP(0.3)", [], { signal, owner }));
    for (let round = 0; round < 3; round++) {
      const caller = new AbortController();
      const left = Array.from({ length: 1_000 }, (_, n) => readSlowly(caller, `${n % 5}`));
      caller.abort(new ServiceError("canceled"));
      expect(new Set(await Promise.all(left))).toEqual(new Set(["canceled"]));
    }
    expect(await Promise.all(slow)).toEqual([[[0]], [[0]]]);
    const owners = Array.from({ length: 100 }, (_, n) => `${n}`);
    expect(await Promise.all(owners.map(readOne))).toEqual(owners.map(() => [["1"]]));
  });
});

describe("a read without a free connection", () => {
  it("rejects as overloaded after its time, or at its deadline if that comes first", async () => {
    await pool.destroy();
    usePool({ maxStatement: 30_000, poolWait: 200 });
    const caller = new AbortController();
    const owners = Array.from({ length: MAX_CONNECTIONS }, (_, owner) => `${owner}`);
    const running = owners.map((owner) => readSlowly(caller, owner));
    await untilSlow(MAX_CONNECTIONS);
    expect(await readOne()).toBe("overloaded");
    const deadline = new AbortController();
    const late = outcomeOf(read("SELECT '1'", [], { signal: deadline.signal }));
    deadline.abort(new ServiceError("deadlineExceeded"));
    expect(await late).toBe("deadlineExceeded");
    for (const id of await processes.running("AS slow")) await processes.kill(id);
    caller.abort(new ServiceError("canceled"));
    await Promise.all(running);
    expect(await readOne()).toEqual([["1"]]);
  });

  it("is answered at the end if the database was gone meanwhile for hundreds that waited", async () => {
    const owners = Array.from({ length: 500 }, (_, n) => `${n % 50}`);
    const reads = owners.map((owner) =>
      outcomeOf(read("SELECT SLEEP(0.05) AS slow", [], { signal, owner })),
    );
    await untilSlow(MAX_CONNECTIONS);
    proxy.route("mysql://127.0.0.1:1/gone");
    for (const id of await processes.running("AS slow")) await processes.kill(id);
    await until(10_000, () => proxy.connections() === 0);
    const kinds = new Set((await Promise.all(reads)).filter((kind) => typeof kind === "string"));
    expect(kinds).toEqual(new Set(["databaseUnavailable"]));
    proxy.route(database.url);
    expect(await Promise.all(owners.map(readOne))).toEqual(owners.map(() => [["1"]]));
  });
});
