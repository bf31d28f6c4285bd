import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createEventLog } from "../../../src/telemetry/event-log.ts";
import { logOpenSums } from "../../../src/telemetry/sampling.ts";
import { collectLog } from "../../support/collected-log.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const line = (event: string, count: number, seconds: number) => ({
  level: "warn",
  event,
  count,
  seconds,
  msg: "a limit was reached",
});

/** An event log and its entries. */
function createFixture() {
  const { log, entries } = collectLog();
  return { entries, report: createEventLog(log) };
}

describe("the event log", () => {
  it("has what is no limit at info", () => {
    const { report, entries } = createFixture();
    report("tlsOnPlainPort");
    expect(entries()).toMatchObject([
      { level: "info", event: "tlsOnPlainPort", msg: "a client spoke TLS to a port without TLS" },
    ]);
  });

  it("has the first of an event at once and the sum of the others ten seconds later, again and again", () => {
    const { report, entries } = createFixture();
    for (let second = 0; second < 25; second++) {
      for (let i = 0; i < 10; i++) report("connection refused");
      vi.advanceTimersByTime(1_000);
    }
    vi.advanceTimersByTime(60_000);
    expect(entries()).toEqual([
      line("connection refused", 1, 0),
      line("connection refused", 99, 10),
      line("connection refused", 1, 0),
      line("connection refused", 99, 10),
      line("connection refused", 1, 0),
      line("connection refused", 49, 10),
    ]);
  });

  it("has the sum until now at the end of the process, once", () => {
    const { report, entries } = createFixture();
    for (let i = 0; i < 10; i++) report("connection refused");
    vi.advanceTimersByTime(3_000);
    logOpenSums();
    const sums = [line("connection refused", 1, 0), line("connection refused", 9, 3)];
    expect(entries()).toEqual(sums);
    logOpenSums();
    vi.advanceTimersByTime(60_000);
    expect(entries()).toEqual(sums);
  });
});
