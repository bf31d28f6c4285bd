import { expect, test } from "vitest";
import { writeDecimal } from "../../../../src/gateway/transcoding/decimal.ts";

test.each([
  ["4500.00", "4500.00"],
  ["-12.50", "-12.50"],
  ["0", "0"],
  ["-0.00", "-0.00"],
  ["123456789012345678901234567890.12", "123456789012345678901234567890.12"],
  ["1.5e-7", "1.5e-7"],
  ["", "0"],
])("%j keeps its digits", (value, json) => {
  expect(writeDecimal(value)).toBe(json);
});

test.each(["+1", ".5", "1.", "01", "NaN", "0x10", "1e", "1\n"])("%j is not a number", (value) => {
  expect(() => writeDecimal(value)).toThrow(
    new Error(`${JSON.stringify(value)} is not a decimal number`),
  );
});
