/** The estimate of how long a statement takes, by which reads that come too late are refused. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  createDurationEstimates,
  type DurationEstimates,
  MAX_ESTIMATE,
} from "../../../../src/db/scheduling/duration-estimate.ts";

let estimates: DurationEstimates;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
  estimates = createDurationEstimates();
});
afterEach(() => {
  vi.useRealTimers();
});

const recordAll = (...durations: number[]) => {
  for (const duration of durations) estimates.record("1", "SELECT 1", duration);
};

describe("the estimate is", () => {
  it.each([
    ["nothing without a run", [], 0],
    ["nothing after one slow run, which may have been an exception", [3_000], 0],
    ["the shorter of the last two runs", [4_000, 3_000], 3_000],
    ["small as soon as one run is fast", [3_000, 3_000, 5], 5],
    ["nothing for fast runs", [50, 60], 0],
    ["at most half of the longest call", [9_000, 9_500], MAX_ESTIMATE],
  ])("%s", (_, durations, expected) => {
    recordAll(...durations);
    expect(estimates.estimate("1", "SELECT 1")).toBe(expected);
  });

  it("half after two seconds, and next to nothing after ten", () => {
    recordAll(4_000, 4_000);
    vi.advanceTimersByTime(2_000);
    expect(estimates.estimate("1", "SELECT 1")).toBeCloseTo(2_000);
    vi.advanceTimersByTime(8_000);
    expect(estimates.estimate("1", "SELECT 1")).toBeLessThan(130);
  });

  it("that of the owner and of the statement alone", () => {
    recordAll(3_000, 3_000);
    expect(estimates.estimate("2", "SELECT 1")).toBe(0);
    expect(estimates.estimate("1", "SELECT 2")).toBe(0);
  });

  it("kept for a bounded number of owners and statements", () => {
    recordAll(3_000, 3_000);
    for (let owner = 2; owner < 1_100; owner++) estimates.record(`${owner}`, "SELECT 1", 3_000);
    expect(estimates.estimate("1", "SELECT 1")).toBe(0);
    recordAll(3_000, 3_000);
    for (let n = 2; n < 100; n++) estimates.record("1", `SELECT ${n}`, 3_000);
    expect(estimates.estimate("1", "SELECT 1")).toBe(0);
  });
});
