import { expect, test } from "vitest";
import { removeEndlessTimeout } from "../../../src/gateway/connect/timeout.ts";

test.each([
  ["connect-timeout-ms", "0", true],
  ["connect-timeout-ms", "5000", true],
  ["connect-timeout-ms", "2147483647", true],
  ["connect-timeout-ms", "2147483648", false],
  ["connect-timeout-ms", "9999999999", false],
  ["connect-timeout-ms", "99999999999", true],
  ["connect-timeout-ms", "soon", true],
  ["grpc-timeout", "99999999n", true],
  ["grpc-timeout", "99999999m", true],
  ["grpc-timeout", "2147483S", true],
  ["grpc-timeout", "2147484S", false],
  ["grpc-timeout", "99999999S", false],
  ["grpc-timeout", "99999999H", false],
  ["grpc-timeout", "9H9", true],
])("%s: %s stays: %s", (name, value, stays) => {
  const headers = { [name]: value };
  removeEndlessTimeout(headers);
  expect(headers[name]).toBe(stays ? value : undefined);
});
