import { describe, expect, test } from "vitest";
import { takeTimeout } from "../../../src/gateway/connect/timeout.ts";

const CONNECT = { "content-type": "application/json" };
const GRPC_WEB = { "content-type": "application/grpc-web+proto" };

describe("a timeout is taken out of the headers, in milliseconds", () => {
  test.each([
    [CONNECT, "connect-timeout-ms", "9999999999", 9_999_999_999],
    [GRPC_WEB, "grpc-timeout", "5000000n", 5],
    [GRPC_WEB, "grpc-timeout", "5000u", 5],
    [GRPC_WEB, "grpc-timeout", "99999999m", 99_999_999],
    [GRPC_WEB, "grpc-timeout", "3S", 3000],
    [GRPC_WEB, "grpc-timeout", "2M", 120_000],
    [GRPC_WEB, "grpc-timeout", "99999999H", 359_999_996_400_000],
  ])("%j with %s: %s", (type, name, value, milliseconds) => {
    const headers = { ...type, [name]: value };
    expect(takeTimeout(headers)).toBeCloseTo(milliseconds, 9);
    expect(headers).toEqual(type);
  });
});

describe("a timeout that is missing, malformed or of the other protocol stays as it is", () => {
  test.each([
    [CONNECT, {}],
    [CONNECT, { "connect-timeout-ms": "99999999999" }],
    [CONNECT, { "connect-timeout-ms": "-1" }],
    [CONNECT, { "grpc-timeout": "1S" }],
    [GRPC_WEB, { "grpc-timeout": "9H9" }],
    [GRPC_WEB, { "grpc-timeout": "999999999S" }],
    [GRPC_WEB, { "connect-timeout-ms": "1" }],
  ])("%j with %j", (type, timeout) => {
    const headers = { ...type, ...timeout };
    expect(takeTimeout(headers)).toBe(Number.POSITIVE_INFINITY);
    expect(headers).toEqual({ ...type, ...timeout });
  });
});
