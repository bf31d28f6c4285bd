/**
 * A session that ends or fails is left, whatever the error: its connection is closed, a read that ran
 * on a pooled connection is run again on a new one, and the error is never `internal`.
 */
import { createConnection } from "mysql2/promise";
import { describe, expect, it } from "vitest";
import { FAILURES, failureOf, TOO_LONG } from "../../../src/db/driver-error.ts";
import { createRead } from "../../../src/db/query.ts";
import { ServiceError } from "../../../src/errors.ts";
import { testPool } from "../../support/database.ts";
import { poll, until } from "../../support/poll.ts";
import { createReads, operation, outcomeOf, SLOW, signal, single, UNLIMITED } from "./reads.ts";

const OWNERS = ["1", "2", "3", "4"];
const LIMITS = { ...UNLIMITED, retryPauses: [0, 1, 1] };
const reads = await createReads(OWNERS.length, LIMITS);
const { fillPool, untilSlow } = reads;

/** The id of the session that answers a read. */
const sessionId = async () =>
  (await reads.read("SELECT CONNECTION_ID()", [], { signal, operation }))[0]?.[0];
const readAll = () => Promise.all(OWNERS.map(reads.readOne));
const ALL_ANSWERED = OWNERS.map(() => [["1"]]);

describe("a connection that the server closes", () => {
  /** Resolves to the id of the connection that runs the slow query. */
  const slowConnection = () => poll(async () => (await reads.processes.sleeping())[0]);

  it("while it is idle costs no read its answer", async () => {
    for (const id of await fillPool()) await reads.processes.kill(id);
    expect(await readAll()).toEqual(ALL_ANSWERED);
  });

  it("in the middle of the query is replaced, and the others stay", async () => {
    const before = await fillPool();
    const result = outcomeOf(reads.read(SLOW, [], { signal, operation }));
    const connection = await slowConnection();
    await reads.database.knex("providers").del(); // the retry is fast
    await reads.processes.kill(connection);
    expect(await result).toEqual([["0"]]);
    const after = await fillPool();
    const others = before.filter((id) => id !== connection);
    expect(before.filter((id) => after.includes(id))).toEqual(others);
    await untilSlow(0); // the server lists a session that was killed for a moment longer
  });

  it("after the caller has left is not replaced", async () => {
    const caller = new AbortController();
    const result = outcomeOf(reads.read(SLOW, [], { signal: caller.signal, operation }));
    const connection = await slowConnection();
    caller.abort(new ServiceError("canceled"));
    expect(await result).toBe("canceled");
    await reads.processes.kill(connection);
    await untilSlow(0);
    expect(reads.proxy.made()).toBe(1);
  });
});

it("a statement on a connection that has been closed says that it is lost", async () => {
  const connection = await createConnection(reads.database.url);
  await connection.end();
  const error = await connection.query("SELECT 1").catch((thrown: unknown) => thrown);
  expect(failureOf(error)).toBe("lost");
});

it("after any error of a session on a pooled connection the read is answered on another", async () => {
  const known = [...FAILURES].filter(([, failure]) => /lost|node|busy/.test(failure));
  const errors = known
    .filter(([number]) => typeof number === "number")
    .map(([number]) => ({ errno: Number(number) }));
  // The last one is of the class of connection exceptions.
  for (const error of [...errors, { errno: 12_345, sqlState: "08999" }]) {
    const [before, made] = [await sessionId(), reads.proxy.made()];
    reads.proxy.inject(error);
    expect(await sessionId(), `after error ${error.errno}`).not.toBe(before);
    expect(reads.proxy.made(), `connections after error ${error.errno}`).toBe(made + 1);
    await until(() => reads.proxy.connections() === 1);
  }
  reads.proxy.inject({ errno: 1047, command: "prepare" });
  expect(await reads.readOne()).toEqual([["1"]]);
});

it("an error that was answered says nothing about the other connections", async () => {
  const before = await fillPool();
  reads.proxy.inject({ errno: 1205 });
  await sessionId();
  const after = await fillPool();
  expect(before.filter((id) => after.includes(id))).toHaveLength(before.length - 1);
});

it("error 1047 on all pooled connections costs no read its answer", async () => {
  await fillPool();
  reads.proxy.inject({ errno: 1047, times: 100, open: true });
  expect(await readAll()).toEqual(ALL_ANSWERED);
  // None of the four is left.
  await fillPool();
  expect([reads.proxy.connections(), reads.proxy.made()]).toEqual([4, 8]);
});

it.each(["execute", "query"] as const)(
  "a session that fails, or cannot be set up, is closed, and another is made: four in all: %s",
  async (command) => {
    reads.proxy.inject({ errno: 1047, command, times: 3 });
    await sessionId();
    expect(reads.proxy.made()).toBe(4);
    await reads.usePool(LIMITS);
    reads.proxy.inject({ errno: 1047, command, times: 4 });
    expect(await outcomeOf(sessionId())).toBe("databaseUnavailable");
    await until(() => reads.proxy.connections() === 0);
  },
);

it("the pause before another try ends if the caller leaves, and the place is free again", async () => {
  const caller = new AbortController();
  const alone = testPool(reads.proxy.url, { maxConnections: 1 });
  try {
    reads.proxy.inject({ errno: 1047 });
    const readAlone = single(createRead(alone, { retryPauses: [600_000] }));
    const left = readAlone("SELECT '1'", [], { signal: caller.signal, operation });
    await until(() => reads.proxy.made() === 1 && reads.proxy.connections() === 0);
    caller.abort(new ServiceError("canceled"));
    expect(await outcomeOf(left)).toBe("canceled");
    expect(await readAlone("SELECT '2'", [], { signal, operation })).toEqual([["2"]]);
  } finally {
    await alone.destroy();
  }
});

it("an error of the statement is internal, or says that somebody ended it, and keeps the connection", async () => {
  const before = await sessionId();
  const failed = reads.read("SELECT x FROM nowhere", [], { signal, operation });
  await expect(failed).rejects.toMatchObject({
    kind: "internal",
    message: "an error occurred while retrieving revenue data",
    cause: { code: "ER_NO_SUCH_TABLE" },
  });
  // Somebody ended the statement; Vitess has no tablet for it.
  for (const errno of [1317, 1105]) {
    reads.proxy.inject({ errno });
    expect(await outcomeOf(sessionId())).toBe("databaseUnavailable");
  }
  // It has more rows than a tablet of Vitess returns, and will have them again.
  const message = "target: plain.0.primary: vttablet: rpc error: Row count exceeded 10000";
  reads.proxy.inject({ errno: 1317, sqlState: "70100", message });
  const tooLong = reads.read("SELECT '1'", [], { signal, operation });
  await expect(tooLong).rejects.toMatchObject({ kind: "internal", cause: { message: TOO_LONG } });
  expect(await sessionId()).toBe(before);
});

it("a session that cannot be set up because the server falls silent is closed too, and takes no place", async () => {
  await reads.usePool({ ...LIMITS, connectTimeout: 1_000 });
  reads.proxy.inject({ command: "query", times: 4 });
  expect(await readAll()).toEqual(OWNERS.map(() => "databaseUnavailable"));
  // Connections that took a second did not meet the silence. The next ones do.
  await until(() => fillPool().then(Boolean, () => false));
});
