/** Hourly prices and estimated hours. */
import { expect, it } from "vitest";
import { parseCents } from "../../../src/db/cents.ts";
import { estimateHours, formatHourlyPrice, parseHourlyPrice } from "../../../src/revenue/price.ts";

it.each([
  ["0.0000", "0.00"],
  ["0.0100", "0.01"],
  ["0.3475", "0.3475"],
  ["2.5050", "2.505"],
  ["99999999.9999", "99999999.9999"],
  ["-0.5000", "-0.50"],
])("an hourly price stored as %s is formatted as %s", (stored, shown) => {
  expect(formatHourlyPrice(parseHourlyPrice(stored))).toBe(shown);
});

it.each(["", "1", "1.00", "1.00000", "1,0000", " 1.0000"])(
  "an hourly price is not parsed from %j",
  (text) => {
    expect(() => parseHourlyPrice(text)).toThrow(
      new Error(`expected a price with four decimal digits, got ${JSON.stringify(text)}`),
    );
  },
);

it.each([
  // gross, price, hours
  ["2.50", "2.5000", "1.00"],
  ["2.00", "3.0000", "0.67"],
  ["0.01", "2.0000", "0.01"], // half a hundredth of an hour is rounded away from zero
  ["-0.01", "2.0000", "-0.01"],
  ["0.01", "2.0001", "0.00"],
  ["5.00", "0.0000", "0.00"],
  ["5.00", "-1.0000", "0.00"],
  ["999999999999.99", "0.0001", "9999999999999900.00"],
])("the estimated hours for a gross of %s at %s an hour are %s", (gross, price, hours) => {
  expect(estimateHours(parseCents(gross), parseHourlyPrice(price))).toBe(hours);
});
