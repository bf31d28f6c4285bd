import { expect, test } from "vitest";
import { writeTimestamp } from "../../../../src/gateway/transcoding/timestamp.ts";

test.each<[bigint, number, string]>([
  [1_795_167_000n, 0, "2026-11-20T09:30:00Z"],
  [1_795_167_000n, 1000, "2026-11-20T09:30:00.000001Z"],
  [1_795_167_000n, 1, "2026-11-20T09:30:00.000000001Z"],
  [-1n, 500_000_000, "1969-12-31T23:59:59.500Z"],
  [-62_135_596_800n, 0, "0001-01-01T00:00:00Z"],
  [253_402_300_799n, 999_999_999, "9999-12-31T23:59:59.999999999Z"],
])("%d s and %d ns are written as %s", (seconds, nanos, text) => {
  expect(writeTimestamp(seconds, nanos)).toBe(`"${text}"`);
});

test.each<[bigint, number, string]>([
  [-62_135_596_801n, 0, "-62135596801 seconds are outside the years 0001 to 9999"],
  [253_402_300_800n, 0, "253402300800 seconds are outside the years 0001 to 9999"],
  [0n, -1, "-1 nanoseconds are outside 0 to 999999999"],
  [0n, 1_000_000_000, "1000000000 nanoseconds are outside 0 to 999999999"],
  [0n, 0.5, "0.5 nanoseconds are outside 0 to 999999999"],
])("%d s and %d ns are out of range", (seconds, nanos, message) => {
  expect(() => writeTimestamp(seconds, nanos)).toThrow(new Error(message));
});
