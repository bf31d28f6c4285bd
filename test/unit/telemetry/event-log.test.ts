import { expect, it, onTestFinished, vi } from "vitest";
import { createEventLog } from "../../../src/telemetry/event-log.ts";
import { collectLog } from "../../support/collected-log.ts";

it("the first of an event is logged at once, what is no limit at info, the sum of the others ten seconds later, and all are counted", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { log, entries } = collectLog();
  const count = vi.fn();
  const report = createEventLog(log, count);
  for (let i = 0; i < 10; i++) report("tooManyConnections");
  report("tlsHandshakeFailed");
  vi.advanceTimersByTime(60_000);
  const limit = { level: "warn", event: "tooManyConnections" };
  expect(entries()).toEqual([
    { ...limit, msg: "a limit was reached" },
    { level: "info", event: "tlsHandshakeFailed", msg: "a TLS handshake failed" },
    { ...limit, count: 9, seconds: 10, msg: "more: a limit was reached" },
  ]);
  expect(count).toHaveBeenCalledTimes(11);
});
