/**
 * Reads: their rows, their limits, and callers that leave. Those are answered at once; their statement
 * goes on until the server ends it, and holds its place in its owner's share until then.
 */
import { describe, expect, it } from "vitest";
import { ServiceError } from "../../../src/errors.ts";
import { createReads, outcomeOf, SLOW, signal } from "./reads.ts";

const MAX_CONNECTIONS = 4;
/** After which time the server ends a statement, in ms. */
const LIMITS = { maxStatement: 2_000, poolWait: 60_000, retryPauses: [0, 1, 1] };

const reads = createReads(MAX_CONNECTIONS, LIMITS);
const { readOne, untilSlow } = reads;
const slowStatements = async () => (await reads.processes.running("AS slow")).length;
const readSlowly = (caller: AbortController, owner = "") =>
  outcomeOf(reads.read(SLOW, [], { signal: caller.signal, owner }));
const canceled = new ServiceError("canceled");

describe("a read", () => {
  it("resolves to rows of columns in order, each as text or null", async () => {
    const sql = "SELECT ?, CAST(0.10 AS DECIMAL(14, 2)), NULL, CAST(? AS CHAR)";
    expect(await reads.read(sql, ["a", "18446744073709551615"], { signal })).toEqual([
      ["a", "0.10", null, "18446744073709551615"],
    ]);
  });

  it("rejects as internal if the statement fails, with the driver's error as the cause", async () => {
    const error = await reads.read("SELECT x FROM nowhere", [], { signal }).catch((e) => e);
    expect(error).toBeInstanceOf(ServiceError);
    expect([error.kind, error.message]).toEqual([
      "internal",
      "an error occurred while retrieving revenue data",
    ]);
    expect(error.cause).toMatchObject({ code: "ER_NO_SUCH_TABLE" });
  });

  it("takes no connection for a statement other than SELECT, or a caller that has left", async () => {
    await expect(reads.read("DELETE FROM providers", [], { signal })).rejects.toThrow(
      "expected a statement that starts with SELECT",
    );
    const left = { signal: AbortSignal.abort(canceled) };
    expect(await outcomeOf(reads.read("SELECT '1'", [], left))).toBe("canceled");
    expect(reads.proxy.made()).toBe(0);
  });
});

describe("a caller that leaves", () => {
  it("is answered at once, and the server ends its statement as it ends every long one", async () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const [left, stayed] = [readSlowly(one, "1"), readSlowly(other, "2")];
    await untilSlow(2);
    one.abort(canceled);
    expect(await left).toBe("canceled");
    expect(await slowStatements()).toBe(2);
    expect(await stayed).toBe("deadlineExceeded");
    await untilSlow(0);
    // The sessions have answered, so they are used again.
    await Promise.all(["1", "2"].map(readOne));
    expect(reads.proxy.made()).toBe(2);
  });

  it("while its connection is made runs nothing", async () => {
    const caller = new AbortController();
    const left = readSlowly(caller);
    const next = readOne();
    caller.abort(canceled);
    expect(await left).toBe("canceled");
    await next;
    expect(await slowStatements()).toBe(0);
  });

  it("with all of its reads fills its own share of the pool, and no more", async () => {
    await reads.usePool({ ...LIMITS, maxStatement: 60_000 });
    for (let round = 0; round < 20; round++) {
      const caller = new AbortController();
      const left = readSlowly(caller, "leaving");
      if (round < 2) await untilSlow(round + 1);
      caller.abort(canceled);
      expect(await left).toBe("canceled");
    }
    expect(await readOne("another")).toEqual([["1"]]);
    const running = await reads.processes.running("AS slow");
    expect(running).toHaveLength(2);
    // Its own next read waits for one of them.
    let isAnswered = false;
    const own = readOne("leaving").finally(() => {
      isAnswered = true;
    });
    expect(await readOne("another")).toEqual([["1"]]);
    expect(isAnswered).toBe(false);
    for (const id of running) await reads.processes.kill(id);
    expect(await own).toEqual([["1"]]);
  });

  it("while it waits, as hundreds do, leaves a pool that is whole", async () => {
    const slow = ["1", "2"].map((owner) =>
      reads.read("SELECT CAST(SLEEP(0.3) AS CHAR)", [], { signal, owner }),
    );
    const caller = new AbortController();
    const left = Array.from({ length: 500 }, (_, n) => readSlowly(caller, `${n % 5}`));
    caller.abort(canceled);
    expect(new Set(await Promise.all(left))).toEqual(new Set(["canceled"]));
    expect(await Promise.all(slow)).toEqual([[["0"]], [["0"]]]);
    const owners = Array.from({ length: 100 }, (_, n) => `${n}`);
    expect(await Promise.all(owners.map(readOne))).toEqual(owners.map(() => [["1"]]));
  });
});

describe("a read without a free connection", () => {
  it("rejects as overloaded after its time, or at its deadline if that comes first", async () => {
    await reads.usePool({ maxStatement: 30_000, poolWait: 200 });
    const caller = new AbortController();
    const owners = Array.from({ length: MAX_CONNECTIONS }, (_, owner) => `${owner}`);
    const running = owners.map((owner) => readSlowly(caller, owner));
    await untilSlow(MAX_CONNECTIONS);
    expect(await readOne()).toBe("overloaded");
    const deadline = new AbortController();
    const late = outcomeOf(reads.read("SELECT '1'", [], { signal: deadline.signal }));
    deadline.abort(new ServiceError("deadlineExceeded"));
    expect(await late).toBe("deadlineExceeded");
    caller.abort(canceled);
    await Promise.all(running);
    for (const id of await reads.processes.running("AS slow")) await reads.processes.kill(id);
    await untilSlow(0);
    expect(await readOne()).toEqual([["1"]]);
  });

  it("is answered at the end if the database was gone meanwhile for hundreds that waited", async () => {
    const owners = Array.from({ length: 200 }, (_, n) => `${n % 50}`);
    const waiting = owners.map((owner) =>
      outcomeOf(reads.read("SELECT SLEEP(0.05) AS slow", [], { signal, owner })),
    );
    await untilSlow(MAX_CONNECTIONS);
    reads.proxy.route("mysql://127.0.0.1:1/gone");
    for (const id of await reads.processes.running("AS slow")) await reads.processes.kill(id);
    const kinds = new Set((await Promise.all(waiting)).filter((kind) => typeof kind === "string"));
    expect(kinds).toEqual(new Set(["databaseUnavailable"]));
    reads.proxy.route(reads.database.url);
    expect(await Promise.all(owners.map(readOne))).toEqual(owners.map(() => [["1"]]));
  });
});
