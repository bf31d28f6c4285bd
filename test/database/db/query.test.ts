/**
 * Reads: their rows, their limits, and callers that leave. Those are answered at once; their statement
 * goes on until the server ends it, and holds its place in its owner's share until then.
 */
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { ServiceError } from "../../../src/errors.ts";
import { until } from "../../support/poll.ts";
import { createReads, operation, outcomeOf, SLOW, signal, UNLIMITED } from "./reads.ts";

const MAX_CONNECTIONS = 4;
/** The server ends no statement. */
const LIMITS = { ...UNLIMITED, retryPauses: [0, 1, 1] };

const reads = await createReads(MAX_CONNECTIONS, LIMITS);
const { readOne, untilSlow } = reads;
const readSlowly = (caller: AbortController, owner = "") =>
  outcomeOf(reads.read(SLOW, [], { signal: caller.signal, owner, operation }));
const canceled = new ServiceError("canceled");
/** Ends all slow statements. */
async function endSlow(): Promise<void> {
  for (const id of await reads.processes.running("AS slow")) await reads.processes.kill(id);
  await untilSlow(0);
}

it("a read takes no connection for a caller that has left, and sends no statement other than SELECT", async () => {
  const left = { signal: AbortSignal.abort(canceled), operation };
  expect(await outcomeOf(reads.read("SELECT '1'", [], left))).toBe("canceled");
  expect(reads.proxy.made()).toBe(0);
  await expect(reads.read("DELETE FROM providers", [], { signal, operation })).rejects.toThrow(
    "expected a statement that starts with SELECT",
  );
});

it("a statement that takes too long is ended by the server, and its session is used again", async () => {
  await reads.usePool({ ...LIMITS, maxStatement: 500 });
  // Again, if the answer comes half a second too late: then its connection is given up.
  await until(async () => {
    await readOne();
    const made = reads.proxy.made();
    const outcome = await readSlowly(new AbortController());
    const isUsedAgain = isDeepStrictEqual(await readOne(), [["1"]]) && reads.proxy.made() === made;
    return outcome === "deadlineExceeded" && isUsedAgain;
  });
  await untilSlow(0);
});

describe("a caller that leaves", () => {
  it("while its connection is made runs nothing", async () => {
    const caller = new AbortController();
    const left = readSlowly(caller);
    const next = readOne();
    caller.abort(canceled);
    expect(await left).toBe("canceled");
    await next;
    await untilSlow(0);
  });

  it("is answered at once; its statements go on, in its own share of the pool, and no more", async () => {
    for (let round = 0; round < 6; round++) {
      const caller = new AbortController();
      const left = readSlowly(caller, "leaving");
      if (round < 2) await untilSlow(round + 1);
      caller.abort(canceled);
      expect(await left).toBe("canceled");
    }
    expect(await readOne("another")).toEqual([["1"]]);
    await untilSlow(2);
    // Its own next read waits for one of them.
    let isAnswered = false;
    const own = readOne("leaving").finally(() => {
      isAnswered = true;
    });
    expect(await readOne("another")).toEqual([["1"]]);
    expect(isAnswered).toBe(false);
    await endSlow();
    expect(await own).toEqual([["1"]]);
  });
});

describe("a read without a free connection", () => {
  /** Takes all connections. */
  async function fill(): Promise<void> {
    const owners = Array.from({ length: MAX_CONNECTIONS }, (_, owner) => `${owner}`);
    for (const owner of owners) readSlowly(new AbortController(), owner);
    await untilSlow(MAX_CONNECTIONS);
  }

  it("rejects as overloaded after its time", async () => {
    await reads.usePool({ ...LIMITS, poolWait: 100, retryPauses: [] });
    await fill();
    expect(await readOne()).toBe("overloaded");
    await endSlow();
  });
});
