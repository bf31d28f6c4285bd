/** Decimal strings on the page: taken apart, compared and added without floating point. */

import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, it } from "vitest";
import { DecimalSchema } from "../../../gen/google/type/decimal_pb.ts";
import { partsOf, scaled, share, usd } from "../../../web/src/amount/decimal-text.ts";
import { earningsPerHour } from "../../../web/src/amount/earnings-per-hour.ts";

const DECIMAL = /^-?\d{1,30}(\.\d{1,4})?$/;

it("the parts of a decimal joined are the decimal", () => {
  fc.assert(
    fc.property(fc.stringMatching(DECIMAL), (text) => {
      const { sign, groups, fraction } = partsOf(text);
      expect(sign + groups.join("") + fraction).toBe(text);
      expect(groups.slice(1).every((group) => group.length === 3)).toBe(true);
    }),
  );
});

it.each([
  ["0.00", "$0.00"],
  ["999.99", "$999.99"],
  ["1000.00", "$1,000.00"],
  ["-1234567.89", "-$1,234,567.89"],
  ["90071992547409931234.56", "$90,071,992,547,409,931,234.56"],
])("%s is written as %s", (text, expected) => {
  expect(usd(text)).toBe(expected);
});

it.each([
  ["0.3475", 3475n],
  ["2.50", 25_000n],
  ["-0.01", -100n],
  ["90071992547409931234.56", 900719925474099312345600n],
])("%s is %d ten-thousandths", (text, expected) => {
  expect(scaled(text)).toBe(expected);
});

it.each([
  [1n, 3n, 333, "33.3 %"],
  [3n, 3n, 1000, "100.0 %"],
  [1n, 1001n, 0, "< 0.1 %"],
  [0n, 3n, 0, "–"],
  [-1n, 5n, -200, "-20.0 %"],
  [1n, 0n, 0, "–"],
  [1n, -5n, 0, "–"],
])("%d of %d is %d permille: %s", (part, whole, permille, text) => {
  expect(share(part, whole)).toEqual({ permille, text });
});

it.each([
  // The fee of 4500.05 is 450.01: half a cent is rounded up. 4050.04 / 720.
  ["4500.05", "720.00", "5.63"],
  // The fee of 0.05 is a cent.
  ["0.05", "0.01", "4.00"],
  // 0.90 / 8 is 0.1125; 0.92 / 8 is 0.115, and half a cent is rounded away from zero.
  ["1.00", "8.00", "0.11"],
  ["1.02", "8.00", "0.12"],
  ["-1.02", "8.00", "-0.12"],
  ["0.00", "8.00", "0.00"],
  ["90071992547409931234.56", "1.00", "81064793292668938111.10"],
  ["4500.00", "0.00", undefined],
  ["-4500.00", "0.00", undefined],
])("of %s gross and %s hours, an hour earns %s", (gross, hours, expected) => {
  const [totalRevenue, rentedHours] = [gross, hours].map((value) =>
    create(DecimalSchema, { value }),
  );
  expect(earningsPerHour({ totalRevenue, rentedHours })?.value).toBe(expected);
});
