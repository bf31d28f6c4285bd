import { getEventListeners } from "node:events";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { ServiceError } from "../../../src/errors.ts";
import { type Deadline, startDeadline } from "../../../src/rpc/deadline.ts";

/** The longest call, in ms. */
const LONGEST = 10_000;
const neverAborts = () => new AbortController().signal;
let deadline: Deadline;
afterEach(() => deadline.clear());

/** Why the signal aborted; undefined if it did not. */
const reasonOf = ({ signal }: Deadline) =>
  signal.aborted ? (signal.reason as ServiceError).kind : undefined;

describe("the deadline of a call", () => {
  it.each([
    ["10 s if the caller sent none", Infinity, 10_000],
    ["the caller's if that is earlier", 3_000, 3_000],
    ["10 s if the caller's is later", 60_000, 10_000],
    ["10 s if the caller's is the same", 10_000, 10_000],
  ])("is %s", (_, callers, expected) => {
    vi.useFakeTimers();
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const now = Date.now();
    deadline = startDeadline(now, now + callers, neverAborts(), LONGEST);
    vi.advanceTimersByTime(expected - 1);
    expect(reasonOf(deadline)).toBeUndefined();
    vi.advanceTimersByTime(1);
    expect(reasonOf(deadline)).toBe("deadlineExceeded");
  });

  it("is the longest call that is set, if the caller sent none", async () => {
    const now = Date.now();
    deadline = startDeadline(now, Infinity, neverAborts(), 200);
    expect(deadline.deadline).toBe(now + 200);
    await expect.poll(() => reasonOf(deadline), { interval: 5 }).toBe("deadlineExceeded");
  });

  it("aborts the call when it passes, and not earlier", async () => {
    const now = Date.now();
    deadline = startDeadline(now, now + 200, neverAborts(), LONGEST);
    await expect.poll(() => reasonOf(deadline), { interval: 5 }).toBe("deadlineExceeded");
    expect(Date.now() - now).toBeGreaterThanOrEqual(199);
    expect(Date.now() - now).toBeLessThan(1_000);
  });

  it("aborts the call at once if it passed before the call arrived", () => {
    const now = Date.now();
    deadline = startDeadline(now, now - 1, neverAborts(), LONGEST);
    expect(reasonOf(deadline)).toBe("deadlineExceeded");
  });

  it("does not abort after it was cleared", () => {
    vi.useFakeTimers();
    onTestFinished(() => {
      vi.useRealTimers();
    });
    deadline = startDeadline(Date.now(), Infinity, neverAborts(), LONGEST);
    deadline.clear();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(20_000);
    expect(reasonOf(deadline)).toBeUndefined();
  });
});

describe("cancellation by the caller", () => {
  it("aborts the call at once, with the service's own reason", () => {
    const caller = new AbortController();
    deadline = startDeadline(Date.now(), Infinity, caller.signal, LONGEST);
    caller.abort(new Error("a reason of the protocol"));
    expect(deadline.signal.reason).toBeInstanceOf(ServiceError);
    expect(reasonOf(deadline)).toBe("canceled");
  });

  it("before the call started aborts it at once", () => {
    deadline = startDeadline(Date.now(), Infinity, AbortSignal.abort(), LONGEST);
    expect(reasonOf(deadline)).toBe("canceled");
  });

  it("after the call ended has no effect, and is not listened for", () => {
    const caller = new AbortController();
    deadline = startDeadline(Date.now(), Infinity, caller.signal, LONGEST);
    expect(getEventListeners(caller.signal, "abort")).toHaveLength(1);
    deadline.clear();
    expect(getEventListeners(caller.signal, "abort")).toEqual([]);
    caller.abort();
    expect(reasonOf(deadline)).toBeUndefined();
  });
});
