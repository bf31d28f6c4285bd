import { expect, test } from "vitest";
import { takeTimeout } from "../../../src/gateway/connect/timeout.ts";

test.each([
  ["application/json", "connect-timeout-ms", "9999999999", 9_999_999_999],
  ["application/grpc-web+proto", "grpc-timeout", "5000000n", 5],
  ["application/grpc-web+proto", "grpc-timeout", "5000u", 5],
  ["application/grpc-web+proto", "grpc-timeout", "99999999m", 99_999_999],
  ["application/grpc-web+proto", "grpc-timeout", "3S", 3000],
  ["application/grpc-web+proto", "grpc-timeout", "2M", 120_000],
  ["application/grpc-web+proto", "grpc-timeout", "99999999H", 359_999_996_400_000],
])("%s with %s: %s is taken out of the headers, in milliseconds", (type, name, value, ms) => {
  const headers = { "content-type": type, [name]: value };
  expect(takeTimeout(headers)).toBeCloseTo(ms, 9);
  expect(headers).toEqual({ "content-type": type });
});
