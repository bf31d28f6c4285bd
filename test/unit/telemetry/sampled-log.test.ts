import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createSampledLog, type Sampling } from "../../../src/telemetry/sampled-log.ts";
import { collectLog } from "../../support/collected-log.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A sampled log and its entries. */
function createFixture(sampling?: Sampling) {
  const { log, entries } = collectLog();
  return { entries, log: createSampledLog(log, sampling) };
}

it("twenty lines a second are logged of those with one message and one value of its field, and the sum of the others", () => {
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

it("it begins anew after each window", () => {
  const { log, entries } = createFixture({ limit: 1, window: 10_000 });
  for (let second = 0; second < 13; second++) {
    for (let i = 0; i < 10; i++) log.warn({ i }, "late");
    vi.advanceTimersByTime(1_000);
  }
  vi.advanceTimersByTime(60_000);
  const line = { level: "warn", i: 0, msg: "late" };
  const sumOf = (count: number, seconds: number) => ({
    ...{ level: "warn", count, seconds },
    msg: "more: late",
  });
  expect(entries()).toEqual([line, sumOf(99, 10), line, sumOf(29, 10)]);
});
