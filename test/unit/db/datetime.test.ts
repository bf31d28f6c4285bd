import { expect, it } from "vitest";
import { fromDatetime, instantOf, monthStart, toDatetime } from "../../../src/db/datetime.ts";

it.each([
  ["2026-11-20T09:30:00.123Z", "2026-11-20 09:30:00.123"],
  ["0001-01-01T00:00:00.000Z", "0001-01-01 00:00:00.000"],
  ["9999-12-31T23:59:59.999Z", "9999-12-31 23:59:59.999"],
  // The tests' time zone, New York, changes its clocks in these nights.
  ["2026-03-08T02:30:00.000Z", "2026-03-08 02:30:00.000"],
  ["2026-11-01T06:00:00.000Z", "2026-11-01 06:00:00.000"],
])("the instant %s is %s in the database, in UTC, and back", (iso, datetime) => {
  expect(toDatetime(Date.parse(iso))).toBe(datetime);
  expect(fromDatetime(datetime)).toBe(Date.parse(iso));
  expect(instantOf(datetime)).toBe(Date.parse(iso));
});

it.each([
  // Before the year 1.
  ["0000-00-00 00:00:00.000", "0001-01-01 00:00:00.000"],
  ["0001-00-10 10:00:00.000", "0001-01-01 00:00:00.000"],
  // Dates that do not exist.
  ["2026-02-31 10:00:00.000", "2026-02-28 23:59:59.999"],
  ["2026-03-00 10:00:00.000", "2026-02-28 23:59:59.999"],
  ["2026-00-10 10:00:00.000", "2025-12-31 23:59:59.999"],
])("the instant of a row that is dated %s is %s", (text, instant) => {
  expect(toDatetime(instantOf(text))).toBe(instant);
});

it("a month of a year before 100 starts in that year", () => {
  expect(toDatetime(monthStart(4, 1))).toBe("0004-02-01 00:00:00.000");
  expect(toDatetime(monthStart(2026, 12))).toBe("2027-01-01 00:00:00.000");
});
