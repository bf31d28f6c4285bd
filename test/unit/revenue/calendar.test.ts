/** Calendar months, in UTC and in English. */
import { expect, it } from "vitest";
import { recentMonths } from "../../../src/revenue/calendar.ts";

it.each([
  ["2026-01-01T00:00:00.000Z", "January 2026", "Jan", "202601"],
  ["2025-12-31T23:59:59.999Z", "December 2025", "Dec", "202512"],
  ["2028-02-29T23:59:59.999Z", "February 2028", "Feb", "202802"],
  ["2100-02-28T23:59:59.999Z", "February 2100", "Feb", "210002"],
  ["2100-03-01T00:00:00.000Z", "March 2100", "Mar", "210003"],
])("the current month at %s is %s", (now, label, abbreviation, key) => {
  const [month] = recentMonths(Date.parse(now));
  expect(month).toEqual({ label, abbreviation, key, year: Number(key.slice(0, 4)) });
});

it("recent months are the current one and those before it, across the end of a year", () => {
  expect(recentMonths(Date.parse("2026-03-31T12:00Z")).map((month) => month.label)).toEqual([
    "March 2026",
    "February 2026",
    "January 2026",
    "December 2025",
    "November 2025",
    "October 2025",
    "September 2025",
    "August 2025",
    "July 2025",
    "June 2025",
    "May 2025",
    "April 2025",
  ]);
});
