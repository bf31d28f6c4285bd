import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { sampleRejections } from "../../../src/telemetry/rejection-log.ts";
import { collectLog } from "../../support/collected-log.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("of requests rejected with one status, and of errors with one message, 20 a second are logged, and the sum of the others", () => {
  const { log: collected, entries } = collectLog();
  const log = sampleRejections(collected);
  const rest = { requestId: "r", protocol: "rest", status: 404 };
  for (let i = 0; i < 50; i++) {
    log.info(rest, "request rejected");
    log.error({ requestId: "r" }, "cannot write the response");
  }
  log.info({ ...rest, status: 413 }, "request rejected");
  vi.advanceTimersByTime(5_000);
  expect(entries().slice(0, 2)).toEqual([
    { level: "info", ...rest, msg: "request rejected" },
    { level: "error", requestId: "r", msg: "cannot write the response" },
  ]);
  expect(entries().slice(40)).toEqual([
    { level: "info", ...rest, status: 413, msg: "request rejected" },
    { level: "info", status: 404, count: 30, seconds: 1, msg: "more requests rejected" },
    { level: "error", count: 30, seconds: 1, msg: "more: cannot write the response" },
  ]);
});
