import type { Knex } from "knex";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { createPool } from "../../../src/db/pool.ts";
import { createRead, type Read } from "../../../src/db/query.ts";
import { ServiceError } from "../../../src/errors.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { type ProcessList, watchProcesses } from "../../support/process-list.ts";

const SLOW = "SELECT SUM(a.n * b.n * c.n) AS slow FROM many a, many b, many c";
const signal = () => new AbortController().signal;

let database: TestDatabase;
let processes: ProcessList;
let pool: Knex;
let read: Read;
beforeAll(async () => {
  database = await createDatabase();
  await database.knex.raw("CREATE TABLE many (n INT PRIMARY KEY)");
  processes = await watchProcesses(database.name);
});
afterAll(async () => {
  await processes.close();
  await database.drop();
});
beforeEach(async () => {
  await database.knex("many").insert(Array.from({ length: 3_000 }, (_, n) => ({ n })));
  pool = createPool(parseDatabaseUrl(database.url), {
    readOnly: true,
    maxConnections: 4,
    maxStatement: 30_000, // ends the slow query if a test fails
  });
  read = createRead(pool, { retryPauses: [0, 1, 1] });
});
afterEach(async () => {
  await pool.destroy();
  await database.knex("many").del();
});

/** The rows of a read, or the kind of its error. */
const outcomeOf = (result: Promise<unknown>) =>
  result.catch((thrown) => (thrown instanceof ServiceError ? thrown.kind : thrown));

/** Resolves to the id of a connection that runs the slow query, and is not one of the `others`. */
async function slowConnection(others: readonly number[] = []): Promise<number> {
  let found: number | undefined;
  const find = async () => {
    found = (await processes.running("AS slow")).find((id) => !others.includes(id));
    return found;
  };
  await expect.poll(find, { timeout: 10_000 }).toBeDefined();
  return found ?? 0;
}

describe("a read on a connection that the server closes", () => {
  it("while it is idle in the pool uses another connection", async () => {
    for (let round = 0; round < 20; round++) {
      const ids = await Promise.all(
        Array.from({ length: 4 }, () =>
          read("SELECT CONNECTION_ID(), SLEEP(0.01)", [], { signal: signal() }),
        ),
      );
      for (const id of new Set(ids.map(([row]) => Number(row?.[0])))) await processes.kill(id);
      const again = Array.from({ length: 4 }, () => read("SELECT '1'", [], { signal: signal() }));
      expect(await Promise.all(again)).toEqual(again.map(() => [["1"]]));
    }
  });

  it("in the middle of the query is retried on another connection", async () => {
    await read("SELECT '1'", [], { signal: signal() }); // opens a connection in the pool
    const result = read(SLOW, [], { signal: signal() });
    const connection = await slowConnection();
    await database.knex("many").where("n", ">", 2).del(); // the retry is fast
    await processes.kill(connection);
    expect(await result).toEqual([["27"]]);
  });

  it("and each of three new ones rejects as the database being unavailable", async () => {
    await read("SELECT '1'", [], { signal: signal() });
    const result = outcomeOf(read(SLOW, [], { signal: signal() }));
    // A connection that was killed may be in the list for a while.
    const killed: number[] = [];
    while (killed.length < 4) {
      const connection = await slowConnection(killed);
      await processes.kill(connection);
      killed.push(connection);
    }
    expect(await result).toBe("databaseUnavailable");
    await expect.poll(() => processes.running("AS slow")).toEqual([]);
  });

  it("after the caller has cancelled is not retried", async () => {
    const caller = new AbortController();
    const result = outcomeOf(read(SLOW, [], { signal: caller.signal }));
    const connection = await slowConnection();
    caller.abort(new ServiceError("canceled"));
    expect(await result).toBe("canceled");
    await processes.kill(connection);
    await expect.poll(() => processes.running("AS slow")).toEqual([]);
  });
});

describe("a read rejects", () => {
  it.each([
    ["no server", { port: 1 }, "databaseUnavailable"],
    ["no such account", { user: "nobody", password: "wrong" }, "internal"],
    ["no such database", { database: "nowhere" }, "internal"],
  ])("if there is %s", async (_, wrong, kind) => {
    const unavailable = createPool({ ...parseDatabaseUrl(database.url), ...wrong });
    const error = await createRead(unavailable)("SELECT '1'", [], { signal: signal() }).catch(
      (thrown) => thrown,
    );
    await unavailable.destroy();
    expect(error).toBeInstanceOf(ServiceError);
    expect(error.kind).toBe(kind);
    expect(error.message).not.toMatch(/nobody|wrong|nowhere|127\.0\.0\.1/);
  });
});
