/** Calendar months, and instants as DATETIME text. */
import { describe, expect, it } from "vitest";
import { fromDatetime, instantOf, toDatetime } from "../../../src/db/datetime.ts";
import { recentMonths } from "../../../src/revenue/calendar.ts";

const first = (now: string) => recentMonths(Date.parse(now)).at(0);

describe("the current month", () => {
  it.each([
    ["2026-11-20T09:30:00.000Z", "November 2026", "Nov", "202611"],
    ["2026-01-01T00:00:00.000Z", "January 2026", "Jan", "202601"],
    ["2025-12-31T23:59:59.999Z", "December 2025", "Dec", "202512"],
    ["2028-02-29T23:59:59.999Z", "February 2028", "Feb", "202802"],
    ["2028-03-01T00:00:00.000Z", "March 2028", "Mar", "202803"],
    ["2100-02-28T23:59:59.999Z", "February 2100", "Feb", "210002"],
    ["2100-03-01T00:00:00.000Z", "March 2100", "Mar", "210003"],
    ["2026-09-30T23:59:59.999Z", "September 2026", "Sep", "202609"],
  ])("at %s is %s", (now, label, abbreviation, key) => {
    expect(first(now)).toEqual({ label, abbreviation, key, year: Number(key.slice(0, 4)) });
  });
});

describe("recent months", () => {
  it("are the current one and those before it, most recent first, across the end of a year", () => {
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

  it("are those of one year in December", () => {
    const months = recentMonths(Date.parse("2027-12-31T23:59:59.999Z"));
    expect(new Set(months.map((month) => month.year))).toEqual(new Set([2027]));
    expect(months.at(-1)?.label).toBe("January 2027");
  });
});

describe("an instant", () => {
  it.each([
    ["2026-11-20T09:30:00.000Z", "2026-11-20 09:30:00.000"],
    ["2028-02-29T23:59:59.999Z", "2028-02-29 23:59:59.999"],
    ["1969-12-31T23:59:59.999Z", "1969-12-31 23:59:59.999"],
    ["0001-01-01T00:00:00.000Z", "0001-01-01 00:00:00.000"],
    ["9999-12-31T23:59:59.999Z", "9999-12-31 23:59:59.999"],
    // The tests' time zone, New York, changes its clocks in these nights.
    ["2026-03-08T07:00:00.001Z", "2026-03-08 07:00:00.001"],
    ["2026-11-01T06:00:00.000Z", "2026-11-01 06:00:00.000"],
  ])("%s is %s in the database", (iso, datetime) => {
    expect(toDatetime(Date.parse(iso))).toBe(datetime);
    expect(fromDatetime(datetime)).toBe(Date.parse(iso));
  });

  it.each([
    ["the date zero", "0000-00-00 00:00:00.000", "0001-01-01 00:00:00.000"],
    ["a time before the year 1", "0000-12-31 23:59:59.999", "0001-01-01 00:00:00.000"],
    ["no month", "2026-00-10 12:00:00.000", "2025-12-31 23:59:59.999"],
    ["no day", "2026-03-00 12:00:00.000", "2026-02-28 23:59:59.999"],
    ["a day that the month does not have", "2026-02-30 12:00:00.000", "2026-02-28 23:59:59.999"],
  ])("of a row that has %s counts as the last one before it, but in the year 1", (_, text, at) => {
    expect(toDatetime(instantOf(text))).toBe(at);
  });
});
