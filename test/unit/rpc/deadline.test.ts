import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { ServiceError } from "../../../src/errors.ts";
import { type Deadline, startDeadline } from "../../../src/rpc/deadline.ts";

/** The longest call, in ms. */
const LONGEST = 10_000;
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Why the signal aborted; undefined if it did not. */
const reasonOf = ({ signal }: Deadline) =>
  signal.aborted ? (signal.reason as ServiceError).kind : undefined;

it.each([
  ["that of the longest call if the caller sent none", Infinity, LONGEST],
  ["the caller's if that is earlier", 3_000, 3_000],
  ["the caller's, also if that is in a millisecond", 1, 1],
  ["that of the longest call if the caller's is later", 60_000, LONGEST],
])("the deadline of a call is %s", (_, callers, expected) => {
  const now = Date.now();
  const deadline = startDeadline(now, now + callers, new AbortController().signal, LONGEST);
  vi.advanceTimersByTime(expected - 1);
  expect(reasonOf(deadline)).toBeUndefined();
  vi.advanceTimersByTime(1);
  expect(reasonOf(deadline)).toBe("deadlineExceeded");
});

it("a call that has ended is not aborted, and keeps no timer", () => {
  const caller = new AbortController();
  const deadline = startDeadline(Date.now(), Infinity, caller.signal, LONGEST);
  deadline.clear();
  expect(vi.getTimerCount()).toBe(0);
  caller.abort();
  expect(reasonOf(deadline)).toBeUndefined();
});
