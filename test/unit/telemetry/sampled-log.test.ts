import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  createSampledLog,
  logOpenSums,
  type Sampling,
} from "../../../src/telemetry/sampled-log.ts";
import { collectLog } from "../../support/collected-log.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A sampled log and its entries. */
function createFixture(sampling?: Sampling) {
  const { log, entries } = collectLog();
  return { entries, log: createSampledLog(log, sampling) };
}

describe("a sampled log", () => {
  it("has twenty lines a second of those with one message and one value of its field, and the sum of the others", () => {
    const { log, entries } = createFixture({ by: "status" });
    const line = { requestId: "r", status: 404 };
    for (let i = 0; i < 50; i++) {
      log.info(line, "request rejected");
      log.error({ requestId: "r" }, "cannot write the response");
    }
    log.info({ ...line, status: 413 }, "request rejected");
    vi.advanceTimersByTime(5_000);
    expect(entries().slice(0, 2)).toEqual([
      { level: "info", ...line, msg: "request rejected" },
      { level: "error", requestId: "r", msg: "cannot write the response" },
    ]);
    expect(entries().slice(40)).toEqual([
      { level: "info", ...line, status: 413, msg: "request rejected" },
      { level: "info", status: 404, count: 30, seconds: 1, msg: "more: request rejected" },
      { level: "error", count: 30, seconds: 1, msg: "more: cannot write the response" },
    ]);
  });

  it("begins anew after each window", () => {
    const { log, entries } = createFixture({ limit: 1, window: 10_000 });
    for (let second = 0; second < 25; second++) {
      for (let i = 0; i < 10; i++) log.warn({ i }, "late");
      vi.advanceTimersByTime(1_000);
    }
    vi.advanceTimersByTime(60_000);
    const line = { level: "warn", i: 0, msg: "late" };
    const sumOf = (count: number) => ({ level: "warn", count, seconds: 10, msg: "more: late" });
    expect(entries()).toEqual([line, sumOf(99), line, sumOf(99), line, sumOf(49)]);
  });

  it("has the sum until now at the end of the process, once", () => {
    const { log, entries } = createFixture({ limit: 1, window: 10_000 });
    for (let i = 0; i < 10; i++) log.warn({}, "late");
    vi.advanceTimersByTime(3_000);
    logOpenSums();
    logOpenSums();
    vi.advanceTimersByTime(60_000);
    expect(entries()).toEqual([
      { level: "warn", msg: "late" },
      { level: "warn", count: 9, seconds: 3, msg: "more: late" },
    ]);
  });
});
