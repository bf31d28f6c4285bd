import { afterEach, describe, expect, it } from "vitest";
import { Failure } from "../../src/failure.ts";
import { LONGEST_CALL, type RunningLimits, startLimits } from "../../src/rpc/deadline.ts";

const nobody = () => new AbortController().signal;
let limits: RunningLimits;
afterEach(() => limits.end());

/** Why the signal aborted; undefined while it has not. */
const reasonOf = ({ signal }: RunningLimits) =>
  signal.aborted ? (signal.reason as Failure).kind : undefined;

describe("the deadline of a call", () => {
  it.each([
    ["10 s without one of the caller's", Infinity, 10_000],
    ["the caller's where that comes first", 3_000, 3_000],
    ["10 s where the caller would wait longer", 60_000, 10_000],
    ["10 s where the caller's is just that", 10_000, 10_000],
  ])("is %s", (_, callers, expected) => {
    const now = Date.now();
    limits = startLimits(now, now + callers, nobody());
    expect(limits.deadline - now).toBe(expected);
    expect(reasonOf(limits)).toBeUndefined();
  });

  it("ends the call when it has passed, and not before", async () => {
    const now = Date.now();
    limits = startLimits(now, now + 200, nobody());
    await expect.poll(() => reasonOf(limits), { interval: 5 }).toBe("deadlineExceeded");
    expect(Date.now() - now).toBeGreaterThanOrEqual(199);
    expect(Date.now() - now).toBeLessThan(1_000);
  });

  it("that had passed before the call came ends it", async () => {
    const now = Date.now();
    limits = startLimits(now, now - 1, nobody());
    await expect.poll(() => reasonOf(limits)).toBe("deadlineExceeded");
  });

  it("is 10 s at the longest", () => expect(LONGEST_CALL).toBe(10_000));
});

describe("a caller that goes away", () => {
  it("ends the call at once", () => {
    const caller = new AbortController();
    limits = startLimits(Date.now(), Infinity, caller.signal);
    caller.abort(new Error("of the door's own"));
    expect(limits.signal.reason).toEqual(new Failure("canceled"));
  });

  it("before the call began ends it at once", () => {
    limits = startLimits(Date.now(), Infinity, AbortSignal.abort());
    expect(reasonOf(limits)).toBe("canceled");
  });

  it("after the call is over changes nothing any more", () => {
    const caller = new AbortController();
    limits = startLimits(Date.now(), Infinity, caller.signal);
    limits.end();
    caller.abort();
    expect(reasonOf(limits)).toBeUndefined();
  });
});
