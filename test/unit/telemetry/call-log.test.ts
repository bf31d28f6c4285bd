import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ServiceError, type ServiceErrorKind, serviceErrors } from "../../../src/errors.ts";
import { type CallRecord, createCallLog } from "../../../src/telemetry/call-log.ts";
import { providerKey, serviceKey } from "../../support/caller-key.ts";
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

describe("the line of a call", () => {
  it("that succeeded has these fields only", () => {
    expect(lineOf({})).toEqual({ level: "info", ...COMMON, code: "OK", msg: "call" });
  });

  it("has the name of a service key, which is no provider's text", () => {
    expect(lineOf({ key: serviceKey() })).toMatchObject({
      key: { id: "12", kind: "service", name: "billing export" },
    });
  });

  it("without authentication has no key", () => {
    expect(lineOf({ key: undefined, providerId: undefined })).not.toHaveProperty("key");
  });

  const KINDS: [ServiceErrorKind, string, "info" | "warn" | "error"][] = [
    ["invalidArgument", "INVALID_ARGUMENT", "info"],
    ["unauthenticated", "UNAUTHENTICATED", "info"],
    ["permissionDenied", "PERMISSION_DENIED", "info"],
    ["providerNotFound", "NOT_FOUND", "info"],
    ["notFound", "UNIMPLEMENTED", "info"],
    ["methodNotAllowed", "UNIMPLEMENTED", "info"],
    ["notAcceptable", "INVALID_ARGUMENT", "info"],
    ["messageTooLarge", "RESOURCE_EXHAUSTED", "info"],
    ["unsupported", "UNIMPLEMENTED", "info"],
    ["canceled", "CANCELLED", "info"],
    ["internal", "INTERNAL", "error"],
    ["databaseUnavailable", "UNAVAILABLE", "warn"],
    ["deadlineExceeded", "DEADLINE_EXCEEDED", "warn"],
    ["overloaded", "UNAVAILABLE", "warn"],
    ["tooManyCalls", "RESOURCE_EXHAUSTED", "warn"],
    ["tooManyFailures", "RESOURCE_EXHAUSTED", "warn"],
    ["rateLimited", "RESOURCE_EXHAUSTED", "warn"],
  ];
  it.each(KINDS)(
    "that failed as %s has the code %s and the level %s, no message, and a cause if the service is at fault",
    (kind, code, level) => {
      const error = new ServiceError(kind, 'startDate is "secret"', { cause: "a text" });
      const isFault = level !== "info";
      expect(lineOf({ error })).toEqual({
        level,
        ...COMMON,
        code,
        reason: kind,
        ...(isFault && { cause: { message: "a text" } }),
        msg: isFault ? "call failed" : "call refused",
      });
    },
  );

  it("is defined for every error of the catalogue", () => {
    expect(KINDS.map(([kind]) => kind).sort()).toEqual(Object.keys(serviceErrors).sort());
  });
});

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

describe("the log of calls", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Logs so many calls with this error. Returns the entries after a while. */
  function flood(count: number, kind?: ServiceErrorKind) {
    const { log, entries } = collectLog();
    const logCalls = createCallLog(log);
    const error = kind && new ServiceError(kind);
    for (let i = 0; i < count; i++) logCalls({ ...RECORD, error });
    vi.advanceTimersByTime(10_000);
    return entries();
  }

  it("has a line for every call that succeeded", () => {
    expect(flood(500)).toHaveLength(500);
  });

  it.each<[ServiceErrorKind, string, string]>([
    ["unauthenticated", "info", "more: call refused"],
    ["overloaded", "warn", "more: call failed"],
    ["internal", "error", "more: call failed"],
  ])(
    "of calls with the error %s has twenty lines a second, and the sum of the others",
    (reason, level, msg) => {
      const entries = flood(200, reason);
      expect(entries).toHaveLength(21);
      expect(entries.at(-1)).toEqual({ level, reason, count: 180, seconds: 1, msg });
    },
  );
});
