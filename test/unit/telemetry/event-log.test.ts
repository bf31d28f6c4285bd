import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createEventLog } from "../../../src/telemetry/event-log.ts";
import { collectLog } from "../../support/collected-log.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("the event log", () => {
  it("has the first of an event at once, the sum of the others ten seconds later, and counts all", () => {
    const { log, entries } = collectLog();
    const counted: string[] = [];
    const report = createEventLog(log, (event) => counted.push(event));
    for (let i = 0; i < 10; i++) report("tooManyConnections");
    report("responseTimeout");
    const first = { level: "warn", msg: "a limit was reached" };
    const atOnce = [
      { ...first, event: "tooManyConnections" },
      { ...first, event: "responseTimeout" },
    ];
    expect(entries()).toEqual(atOnce);
    vi.advanceTimersByTime(60_000);
    const sum = { event: "tooManyConnections", count: 9, seconds: 10 };
    expect(entries()).toEqual([
      ...atOnce,
      { level: "warn", ...sum, msg: "more: a limit was reached" },
    ]);
    expect(counted).toHaveLength(11);
  });

  it("has what is no limit at info", () => {
    const { log, entries } = collectLog();
    createEventLog(log)("tlsHandshakeFailed");
    expect(entries()).toEqual([
      { level: "info", event: "tlsHandshakeFailed", msg: "a TLS handshake failed" },
    ]);
  });
});
