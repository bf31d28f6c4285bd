import { describe, expect, it } from "vitest";
import { ServiceError, type ServiceErrorKind, serviceErrors } from "../../../src/errors.ts";
import { type CallRecord, logCall } from "../../../src/telemetry/call-log.ts";
import { collectLog } from "../../support/collected-log.ts";

const RECORD: CallRecord = {
  requestId: "r-1",
  protocol: "rest",
  method: "GetOverview",
  providerId: "18446744073709551615",
  milliseconds: 12.3456,
  error: undefined,
};

/** The one line that a record makes. */
function lineOf(record: Partial<CallRecord>): Record<string, unknown> | undefined {
  const { log, lines, entries } = collectLog();
  logCall(log, { ...RECORD, ...record });
  expect(lines).toHaveLength(1);
  return entries().at(0);
}

const COMMON = {
  requestId: "r-1",
  protocol: "rest",
  method: "GetOverview",
  providerId: "18446744073709551615",
  ms: 12.3,
};

describe("the line of a call", () => {
  it("that succeeded is this, and nothing more", () => {
    expect(lineOf({})).toEqual({ level: "info", ...COMMON, code: "OK", msg: "call" });
  });

  const REFUSED: [ServiceErrorKind, string][] = [
    ["invalidArgument", "INVALID_ARGUMENT"],
    ["unauthenticated", "UNAUTHENTICATED"],
    ["notFound", "UNIMPLEMENTED"],
    ["methodNotAllowed", "UNIMPLEMENTED"],
    ["canceled", "CANCELLED"],
  ];
  it.each(REFUSED)("that was refused as %s says so, without the message", (kind, code) => {
    const error = new ServiceError(kind, 'startDate is "secret"', { cause: new Error("secret") });
    expect(lineOf({ error })).toEqual({
      level: "info",
      ...COMMON,
      code,
      reason: kind,
      msg: "call refused",
    });
  });

  const FAILED: [ServiceErrorKind, string, string][] = [
    ["internal", "INTERNAL", "error"],
    ["databaseUnavailable", "UNAVAILABLE", "warn"],
    ["deadlineExceeded", "DEADLINE_EXCEEDED", "warn"],
    ["overloaded", "UNAVAILABLE", "warn"],
    ["tooManyCalls", "RESOURCE_EXHAUSTED", "warn"],
  ];
  it.each(FAILED)("that failed as %s has the code %s and the level %s", (kind, code, level) => {
    expect(lineOf({ error: new ServiceError(kind) })).toEqual({
      level,
      ...COMMON,
      code,
      reason: kind,
      msg: "call failed",
    });
  });

  it("is defined for every error of the catalogue", () => {
    const kinds = [...REFUSED, ...FAILED].map(([kind]) => kind);
    expect(kinds.sort()).toEqual(Object.keys(serviceErrors).sort());
  });

  it("of an unknown caller names no provider", () => {
    const line = lineOf({ providerId: undefined, error: new ServiceError("unauthenticated") });
    expect(line).not.toHaveProperty("providerId");
  });
});

describe("the cause of a failure", () => {
  const causeOf = (cause: unknown) =>
    lineOf({ error: new ServiceError("internal", undefined, { cause }) })?.cause;

  it("is told with its type, its message and its stack", () => {
    const cause = causeOf(new TypeError("x is not a function"));
    expect(cause).toMatchObject({ type: "TypeError", message: "x is not a function" });
    expect(cause).toHaveProperty("stack", expect.stringMatching(/^ {4}at .*call-log\.test\.ts/));
  });

  it("of the database is told in its own words, without the statement and its values", () => {
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

  it("that is no error is told as a text", () => {
    expect(causeOf("a text")).toEqual({ message: "a text" });
  });
});
