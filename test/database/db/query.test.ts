import type { Knex } from "knex";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { createPool } from "../../../src/db/pool.ts";
import { createRead, type Read } from "../../../src/db/query.ts";
import { ServiceError } from "../../../src/errors.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { type ProcessList, watchProcesses } from "../../support/process-list.ts";

/** Takes minutes, and can be cancelled between any two rows. */
const SLOW = "SELECT SUM(a.n * b.n * c.n) AS slow FROM many a, many b, many c";
const MAX_CONNECTIONS = 3;
/** After which time the server ends a statement, in ms: later than an owner waits for a place. */
const MAX_STATEMENT = 4_000;

let database: TestDatabase;
let processes: ProcessList;
let pool: Knex;
let read: Read;
beforeAll(async () => {
  database = await createDatabase();
  await database.knex.raw("CREATE TABLE many (n INT PRIMARY KEY)");
  await database.knex("many").insert(Array.from({ length: 3_000 }, (_, n) => ({ n })));
  processes = await watchProcesses(database.name);
});
afterAll(async () => {
  await processes.close();
  await database.drop();
});
beforeEach(() => {
  pool = createPool(parseDatabaseUrl(database.url), {
    readOnly: true,
    maxConnections: MAX_CONNECTIONS,
    maxStatement: MAX_STATEMENT,
  });
  read = createRead(pool, { maxStatement: MAX_STATEMENT });
});
afterEach(() => pool.destroy());

/** A signal that aborts after `ms`, or when `caller` aborts. */
function within(ms: number, caller?: AbortController): AbortSignal {
  const controller = caller ?? new AbortController();
  setTimeout(() => controller.abort(new ServiceError("deadlineExceeded")), ms).unref();
  return controller.signal;
}

/** The rows of a read, or the kind of its error. */
const outcomeOf = (result: Promise<unknown>) =>
  result.catch((thrown) => (thrown instanceof ServiceError ? thrown.kind : thrown));

/** Starts a slow read on each connection, each of another owner, whose outcomes it returns. */
const readSlowly = (caller: AbortController) =>
  Array.from({ length: MAX_CONNECTIONS }, (_, index) =>
    outcomeOf(read(SLOW, [], { signal: within(60_000, caller), owner: `${index}` })),
  );

/** Resolves when `count` slow queries run on the server. */
const slowQueries = (count: number) =>
  expect.poll(() => processes.running("AS slow"), { timeout: 10_000 }).toHaveLength(count);

describe("a read", () => {
  it("resolves to rows of columns in order, each as text or null", async () => {
    const sql = "SELECT ?, CAST(0.10 AS DECIMAL(14, 2)), NULL, CAST(? AS CHAR)";
    expect(await read(sql, ["a", "18446744073709551615"], { signal: within(5_000) })).toEqual([
      ["a", "0.10", null, "18446744073709551615"],
    ]);
  });

  it("rejects as internal if the statement fails, with the driver's error as the cause", async () => {
    const error = await read("SELECT x FROM nowhere", [], { signal: within(5_000) }).catch(
      (thrown) => thrown,
    );
    expect(error).toBeInstanceOf(ServiceError);
    expect([error.kind, error.message]).toEqual([
      "internal",
      "an error occurred while retrieving revenue data",
    ]);
    expect(error.cause).toMatchObject({ code: "ER_NO_SUCH_TABLE" });
  });

  it("rejects a statement other than SELECT, and takes no connection for it", async () => {
    for (let i = 0; i <= MAX_CONNECTIONS; i++) {
      await expect(read("DELETE FROM many", [], { signal: within(5_000) })).rejects.toThrow(
        "expected a statement that starts with SELECT",
      );
    }
    expect(
      await read("SELECT CAST(COUNT(*) AS CHAR) FROM many", [], { signal: within(5_000) }),
    ).toEqual([["3000"]]);
  });

  it("rejects with the reason of a signal that has already aborted", async () => {
    const signal = AbortSignal.abort(new ServiceError("canceled"));
    const result = read("SELECT '1'", [], { signal });
    expect(await outcomeOf(result)).toBe("canceled");
  });
});

describe("a read whose deadline passes", () => {
  it("rejects at once, whatever its statement does", async () => {
    const started = performance.now();
    expect(await outcomeOf(read(SLOW, [], { signal: within(500) }))).toBe("deadlineExceeded");
    expect(performance.now() - started).toBeLessThan(MAX_STATEMENT);
  });

  it("is ended by the server at its own limit", async () => {
    const { signal } = new AbortController();
    expect(await outcomeOf(read(SLOW, [], { signal }))).toBe("deadlineExceeded");
    await slowQueries(0);
  });
});

describe("a read that its caller cancels", () => {
  it("rejects at once, and does not affect the queries of other calls", async () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const result = outcomeOf(read(SLOW, [], { signal: within(60_000, one), owner: "1" }));
    const others = outcomeOf(read(SLOW, [], { signal: within(60_000, other), owner: "2" }));
    await slowQueries(2);
    one.abort(new ServiceError("canceled"));
    expect(await result).toBe("canceled");
    expect(await outcomeOf(read("SELECT '1'", [], { signal: within(5_000), owner: "3" }))).toEqual([
      ["1"],
    ]);
    other.abort(new ServiceError("deadlineExceeded"));
    expect(await others).toBe("deadlineExceeded");
  });

  it("leaves no query and no occupied connection behind, 200 times in a row", async () => {
    let left = 200;
    const reader = async () => {
      while (left-- > 0) {
        const caller = new AbortController();
        const owner = `${left % 5}`;
        const result = outcomeOf(read(SLOW, [], { signal: within(60_000, caller), owner }));
        setTimeout(() => caller.abort(new ServiceError("canceled")), left % 8);
        expect(["canceled", "overloaded"]).toContain(await result);
      }
    };
    await Promise.all(Array.from({ length: MAX_CONNECTIONS + 1 }, reader));
    await slowQueries(0);
    // Every place in the pool is free again: as many queries run at once.
    const caller = new AbortController();
    const running = readSlowly(caller);
    await slowQueries(MAX_CONNECTIONS);
    caller.abort(new ServiceError("canceled"));
    expect(await Promise.all(running)).toEqual(running.map(() => "canceled"));
  });
});

describe("a read without a free connection", () => {
  it("rejects as overloaded after about 2 s", async () => {
    const caller = new AbortController();
    const running = readSlowly(caller);
    await slowQueries(MAX_CONNECTIONS);
    const started = performance.now();
    expect(await outcomeOf(read("SELECT '1'", [], { signal: within(10_000) }))).toBe("overloaded");
    const waited = performance.now() - started;
    expect(waited).toBeGreaterThan(1_500);
    expect(waited).toBeLessThan(3_500);

    caller.abort(new ServiceError("canceled"));
    expect(await Promise.all(running)).toEqual(running.map(() => "canceled"));
    await slowQueries(0);
    expect(await read("SELECT '1'", [], { signal: within(5_000) })).toEqual([["1"]]);
  });

  it("rejects at its deadline if that comes first", async () => {
    const caller = new AbortController();
    const running = readSlowly(caller);
    await slowQueries(MAX_CONNECTIONS);
    expect(await outcomeOf(read("SELECT '1'", [], { signal: within(300) }))).toBe(
      "deadlineExceeded",
    );
    caller.abort(new ServiceError("canceled"));
    await Promise.all(running);
  });
});
