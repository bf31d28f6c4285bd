import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { sampleRejections } from "../../../src/telemetry/rejection-log.ts";
import { collectLog } from "../../support/collected-log.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("of rejected requests 20 a second are logged for each status, and the sum of the others", () => {
  const collected = collectLog();
  const log = sampleRejections(collected.log);
  for (let i = 0; i < 1_000; i++) {
    log.info({ requestId: `r-${i}`, protocol: "rest", status: 404 }, "request rejected");
  }
  log.info({ requestId: "r", protocol: "rest", status: 413 }, "request rejected");
  vi.advanceTimersByTime(5_000);
  const entries = collected.entries();
  const fields = { level: "info", protocol: "rest", status: 404, msg: "request rejected" };
  expect(entries.slice(0, 20)).toEqual(
    Array.from({ length: 20 }, (_, i) => ({ ...fields, requestId: `r-${i}` })),
  );
  expect(entries.slice(20)).toEqual([
    { ...fields, requestId: "r", status: 413 },
    { level: "info", status: 404, count: 980, seconds: 1, msg: "more requests rejected" },
  ]);
});

it("rejections over gRPC are counted by code", () => {
  const collected = collectLog();
  const log = sampleRejections(collected.log);
  for (let i = 0; i < 50; i++) {
    log.info({ requestId: `r-${i}`, protocol: "grpc", code: "UNIMPLEMENTED" }, "request rejected");
  }
  vi.advanceTimersByTime(5_000);
  expect(collected.entries().slice(20)).toEqual([
    { level: "info", code: "UNIMPLEMENTED", count: 30, seconds: 1, msg: "more requests rejected" },
  ]);
});

it("of errors with one message 20 a second are logged, and the sum of the others", () => {
  const collected = collectLog();
  const log = sampleRejections(collected.log);
  for (let i = 0; i < 50; i++) log.error({ requestId: `r-${i}` }, "cannot write the response");
  vi.advanceTimersByTime(5_000);
  expect(collected.entries().slice(20)).toEqual([
    { level: "error", count: 30, seconds: 1, msg: "more: cannot write the response" },
  ]);
});
