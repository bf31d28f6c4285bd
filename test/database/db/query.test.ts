import type { Knex } from "knex";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { createPool } from "../../../src/db/pool.ts";
import { createRead, type Read } from "../../../src/db/query.ts";
import { ServiceError } from "../../../src/errors.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { type ProcessList, watchProcesses } from "../../support/process-list.ts";

/** Takes minutes on any machine, and can be ended between any two rows. */
const SLOW = "SELECT SUM(a.n * b.n * c.n) AS slow FROM many a, many b, many c";
const POOL = 3;

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
  pool = createPool(parseDatabaseUrl(database.url), { readOnly: true, pool: POOL });
  read = createRead(pool);
});
afterEach(() => pool.destroy());

/** A signal that aborts after some ms, or when `caller` aborts. */
function within(ms: number, caller?: AbortController): AbortSignal {
  const controller = caller ?? new AbortController();
  setTimeout(() => controller.abort(new ServiceError("deadlineExceeded")), ms).unref();
  return controller.signal;
}

/** What became of a read: its rows, or the failure's kind. */
const outcomeOf = (reading: Promise<unknown>) =>
  reading.catch((thrown) => (thrown instanceof ServiceError ? thrown.kind : thrown));

/** Resolves when as many slow queries run on the server. */
const slowQueries = (count: number) =>
  expect.poll(() => processes.running("AS slow"), { timeout: 10_000 }).toHaveLength(count);

describe("a read", () => {
  it("resolves to rows of columns, in order, each the database's own text or null", async () => {
    const sql = "SELECT ?, CAST(0.10 AS DECIMAL(14, 2)), NULL, CAST(? AS CHAR)";
    expect(await read(sql, ["a", "18446744073709551615"], within(5_000))).toEqual([
      ["a", "0.10", null, "18446744073709551615"],
    ]);
  });

  it("fails as internal where the statement is wrong, with the cause for the log alone", async () => {
    const failure = await read("SELECT x FROM nowhere", [], within(5_000)).catch(
      (thrown) => thrown,
    );
    expect(failure).toBeInstanceOf(ServiceError);
    expect([failure.kind, failure.message]).toEqual([
      "internal",
      "an error occurred while retrieving revenue data",
    ]);
    expect(failure.cause).toMatchObject({ code: "ER_NO_SUCH_TABLE" });
  });

  it("is refused where it is no SELECT, and takes nothing from the pool with it", async () => {
    for (let i = 0; i <= POOL; i++) {
      await expect(read("DELETE FROM many", [], within(5_000))).rejects.toThrow();
    }
    expect(await read("SELECT CAST(COUNT(*) AS CHAR) FROM many", [], within(5_000))).toEqual([
      ["3000"],
    ]);
  });

  it("fails as it is told where its caller has gone before", async () => {
    const signal = AbortSignal.abort(new ServiceError("canceled"));
    const reading = read("SELECT '1'", [], signal);
    expect(await outcomeOf(reading)).toBe("canceled");
  });
});

describe("a read whose deadline passes", () => {
  it("fails at once, and its query ends on the server too", async () => {
    const began = performance.now();
    const reading = outcomeOf(read(SLOW, [], within(500)));
    await slowQueries(1);
    expect(await reading).toBe("deadlineExceeded");
    expect(performance.now() - began).toBeLessThan(1_500);
    await slowQueries(0);
  });

  it("is ended by the server itself where nobody here does", async () => {
    const capped = createPool(parseDatabaseUrl(database.url), {
      readOnly: true,
      longestQuery: 500,
    });
    try {
      const { signal } = new AbortController();
      const began = performance.now();
      expect(await outcomeOf(createRead(capped)(SLOW, [], signal))).toBe("deadlineExceeded");
      expect(performance.now() - began).toBeLessThan(2_000);
      await slowQueries(0);
    } finally {
      await capped.destroy();
    }
  });
});

describe("a read whose caller goes away", () => {
  it("fails at once, and its query is killed on the server", async () => {
    const caller = new AbortController();
    const reading = outcomeOf(read(SLOW, [], within(60_000, caller)));
    await slowQueries(1);
    const began = performance.now();
    caller.abort(new ServiceError("canceled"));
    expect(await reading).toBe("canceled");
    expect(performance.now() - began).toBeLessThan(1_000);
    await slowQueries(0);
  });

  it("leaves the queries of others alone", async () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const reading = outcomeOf(read(SLOW, [], within(60_000, one)));
    const others = outcomeOf(read(SLOW, [], within(60_000, other)));
    await slowQueries(2);
    one.abort(new ServiceError("canceled"));
    expect(await reading).toBe("canceled");
    await slowQueries(1);
    other.abort(new ServiceError("deadlineExceeded"));
    expect(await others).toBe("deadlineExceeded");
    await slowQueries(0);
  });

  it("200 times in a row leaves nothing behind: no query, no place taken in the pool", async () => {
    let left = 200;
    const reader = async () => {
      while (left-- > 0) {
        const caller = new AbortController();
        const reading = outcomeOf(read(SLOW, [], within(60_000, caller)));
        setTimeout(() => caller.abort(new ServiceError("canceled")), left % 8);
        expect(["canceled", "databaseUnavailable"]).toContain(await reading);
      }
    };
    await Promise.all(Array.from({ length: POOL + 1 }, reader));
    await slowQueries(0);
    const again = Array.from({ length: 20 }, () => read("SELECT '1'", [], within(5_000)));
    expect(await Promise.all(again)).toEqual(again.map(() => [["1"]]));
    // A connection keeps its place until its KILL is through.
    await expect.poll(() => pool.client.pool.numUsed(), { timeout: 10_000 }).toBe(0);
  });
});

describe("a pool without a free connection", () => {
  it("fails a read as the database being away, after some 2 s", async () => {
    const caller = new AbortController();
    const readings = Array.from({ length: POOL }, () =>
      outcomeOf(read(SLOW, [], within(60_000, caller))),
    );
    await slowQueries(POOL);
    const began = performance.now();
    expect(await outcomeOf(read("SELECT '1'", [], within(10_000)))).toBe("databaseUnavailable");
    const waited = performance.now() - began;
    expect(waited).toBeGreaterThan(1_500);
    expect(waited).toBeLessThan(3_500);

    caller.abort(new ServiceError("canceled"));
    expect(await Promise.all(readings)).toEqual(readings.map(() => "canceled"));
    expect(await read("SELECT '1'", [], within(5_000))).toEqual([["1"]]);
  });

  it("fails a read at its deadline where that comes first", async () => {
    const caller = new AbortController();
    const readings = Array.from({ length: POOL }, () =>
      outcomeOf(read(SLOW, [], within(60_000, caller))),
    );
    await slowQueries(POOL);
    expect(await outcomeOf(read("SELECT '1'", [], within(300)))).toBe("deadlineExceeded");
    caller.abort(new ServiceError("canceled"));
    await Promise.all(readings);
  });
});
