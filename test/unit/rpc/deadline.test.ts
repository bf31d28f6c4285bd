import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { ServiceError } from "../../../src/errors.ts";
import { type Deadline, LONGEST_CALL, startDeadline } from "../../../src/rpc/deadline.ts";

const nobody = () => new AbortController().signal;
let deadline: Deadline;
afterEach(() => deadline.clear());

/** Why the signal aborted; undefined while it has not. */
const reasonOf = ({ signal }: Deadline) =>
  signal.aborted ? (signal.reason as ServiceError).kind : undefined;

describe("the deadline of a call", () => {
  it.each([
    ["10 s without one of the caller's", Infinity, 10_000],
    ["the caller's where that comes first", 3_000, 3_000],
    ["10 s where the caller would wait longer", 60_000, 10_000],
    ["10 s where the caller's is just that", 10_000, 10_000],
  ])("is %s", (_, callers, expected) => {
    vi.useFakeTimers();
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const now = Date.now();
    deadline = startDeadline(now, now + callers, nobody());
    vi.advanceTimersByTime(expected - 1);
    expect(reasonOf(deadline)).toBeUndefined();
    vi.advanceTimersByTime(1);
    expect(reasonOf(deadline)).toBe("deadlineExceeded");
  });

  it("ends the call when it has passed, and not before", async () => {
    const now = Date.now();
    deadline = startDeadline(now, now + 200, nobody());
    await expect.poll(() => reasonOf(deadline), { interval: 5 }).toBe("deadlineExceeded");
    expect(Date.now() - now).toBeGreaterThanOrEqual(199);
    expect(Date.now() - now).toBeLessThan(1_000);
  });

  it("that had passed before the call came ends it", async () => {
    const now = Date.now();
    deadline = startDeadline(now, now - 1, nobody());
    await expect.poll(() => reasonOf(deadline)).toBe("deadlineExceeded");
  });

  it("is 10 s at the longest", () => expect(LONGEST_CALL).toBe(10_000));
});

describe("a caller that goes away", () => {
  it("ends the call at once", () => {
    const caller = new AbortController();
    deadline = startDeadline(Date.now(), Infinity, caller.signal);
    caller.abort(new Error("of the door's own"));
    expect(deadline.signal.reason).toEqual(new ServiceError("canceled"));
  });

  it("before the call began ends it at once", () => {
    deadline = startDeadline(Date.now(), Infinity, AbortSignal.abort());
    expect(reasonOf(deadline)).toBe("canceled");
  });

  it("after the call is over changes nothing any more", () => {
    const caller = new AbortController();
    deadline = startDeadline(Date.now(), Infinity, caller.signal);
    deadline.clear();
    caller.abort();
    expect(reasonOf(deadline)).toBeUndefined();
  });
});
