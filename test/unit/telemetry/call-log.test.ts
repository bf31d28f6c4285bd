import { status } from "@grpc/grpc-js";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ServiceError, type ServiceErrorKind, serviceErrors } from "../../../src/errors.ts";
import { type CallRecord, createCallLog } from "../../../src/telemetry/call-log.ts";
import { providerKey } from "../../support/caller-key.ts";
import { collectLog } from "../../support/collected-log.ts";

const RECORD: CallRecord = {
  requestId: "r-1",
  protocol: "rest",
  method: "GetOverview",
  key: providerKey("18446744073709551615"),
  providerId: "18446744073709551615",
  milliseconds: 12.3456,
  error: undefined,
};

/** The line of a call. */
function lineOf(record: Partial<CallRecord>): Record<string, unknown> | undefined {
  const { log, lines, entries } = collectLog();
  createCallLog(log)({ ...RECORD, ...record });
  expect(lines).toHaveLength(1);
  return entries().at(0);
}

const COMMON = {
  requestId: "r-1",
  protocol: "rest",
  method: "GetOverview",
  key: { id: "5", kind: "provider" },
  providerId: "18446744073709551615",
  ms: 12.3,
};

const WARNINGS: readonly ServiceErrorKind[] = [
  ...(["databaseUnavailable", "deadlineExceeded", "overloaded"] as const),
  ...(["tooManyCalls", "tooManyFailures", "rateLimited"] as const),
];
it.each(Object.keys(serviceErrors) as ServiceErrorKind[])(
  "the line of a call that failed as %s has the code of gRPC, a level, no message, and a cause if the service is at fault",
  (kind) => {
    const error = new ServiceError(kind, 'startDate is "secret"', { cause: "a text" });
    const level = WARNINGS.includes(kind) ? "warn" : "info";
    const isFault = level === "warn" || kind === "internal";
    expect(lineOf({ error })).toEqual({
      level: kind === "internal" ? "error" : level,
      ...COMMON,
      code: status[error.entry.code],
      reason: kind,
      ...(isFault && { cause: { message: "a text" } }),
      msg: isFault ? "call failed" : "call refused",
    });
  },
);

describe("the cause of an error", () => {
  const causeOf = (cause: unknown) =>
    lineOf({ error: new ServiceError("internal", undefined, { cause }) })?.cause;

  it("is logged with its type, its message and its stack", () => {
    const cause = causeOf(new TypeError("x is not a function"));
    expect(cause).toMatchObject({ type: "TypeError", message: "x is not a function" });
    expect(cause).toHaveProperty("stack", expect.stringMatching(/^ {4}at .*call-log\.test\.ts/));
  });

  it("from the database is logged with the database's message, without the statement and its values", () => {
    const error = Object.assign(new Error("SELECT 'secret' - Unknown column 'x'"), {
      code: "ER_BAD_FIELD_ERROR",
      errno: 1054,
      sqlState: "42S22",
      sqlMessage: "Unknown column 'x'",
      sql: "SELECT 'secret'",
      bindings: ["secret"],
    });
    expect(causeOf(error)).toEqual({
      type: "Error",
      message: "Unknown column 'x'",
      code: "ER_BAD_FIELD_ERROR",
      errno: 1054,
      sqlState: "42S22",
      stack: expect.not.stringContaining("secret"),
    });
  });
});

it("the log of calls has a line for each that succeeded, and twenty a second for a kind of error", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { log, entries } = collectLog();
  const logCalls = createCallLog(log);
  const error = new ServiceError("overloaded");
  for (let i = 0; i < 200; i++) {
    logCalls(RECORD);
    logCalls({ ...RECORD, error });
  }
  vi.advanceTimersByTime(10_000);
  expect(entries().filter(({ msg }) => msg === "call")).toHaveLength(200);
  expect(entries()).toHaveLength(200 + 21);
  const sum = { level: "warn", reason: "overloaded", count: 180, seconds: 1 };
  expect(entries().at(-1)).toEqual({ ...sum, msg: "more: call failed" });
});
