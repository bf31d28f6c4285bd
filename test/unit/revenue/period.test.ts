/** Valid periods: the formats of their ends, and the defaults. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { completePeriod, parsePeriod } from "../../../src/revenue/period.ts";

const NOW = Date.parse("2026-11-20T09:30:00.123Z");
const iso = (instant: number) => new Date(instant).toISOString();
/** The period of a request at `now`. */
const periodOf = (startDate: string, endDate: string, now = NOW) =>
  completePeriod(parsePeriod(startDate, endDate), now);
const startOf = (text: string) => iso(periodOf(text, "9999-12-31").start);
const endOf = (text: string) => iso(periodOf("0001-01-01", text).end);

describe("a date without a time", () => {
  it.each(["0001-01-01", "9999-12-31", "2024-02-29", "2100-02-28"])(
    "%s is its first millisecond as startDate and its last as endDate",
    (day) => {
      expect(startOf(day)).toBe(`${day}T00:00:00.000Z`);
      expect(endOf(day)).toBe(`${day}T23:59:59.999Z`);
    },
  );
});

describe("a date-time", () => {
  it.each([
    // without an offset: UTC
    ["2026-11-01T09:30", "2026-11-01T09:30:00.000Z"],
    ["2026-11-01t09:30:15", "2026-11-01T09:30:15.000Z"],
    // in the hour that the tests' time zone, New York, skips
    ["2026-03-08T02:30:00", "2026-03-08T02:30:00.000Z"],
    // fractions, truncated to the millisecond
    ["2026-11-01T09:30:15.5Z", "2026-11-01T09:30:15.500Z"],
    ["2026-11-01T09:30:15,123Z", "2026-11-01T09:30:15.123Z"],
    ["2026-11-01T09:30:15.9999Z", "2026-11-01T09:30:15.999Z"],
    [`2026-11-01T09:30:15.${"9".repeat(100)}Z`, "2026-11-01T09:30:15.999Z"],
    // offsets
    ["2026-11-01T09:30Z", "2026-11-01T09:30:00.000Z"],
    ["2026-11-01T09:30:00-00:00", "2026-11-01T09:30:00.000Z"],
    ["2026-11-01T09:30:00+02:00", "2026-11-01T07:30:00.000Z"],
    ["2026-11-01T09:30 0200", "2026-11-01T07:30:00.000Z"],
    ["2026-11-01T09:30:00-02:00", "2026-11-01T11:30:00.000Z"],
    ["2026-11-01T09:30:00\u221202:00", "2026-11-01T11:30:00.000Z"],
    ["2026-11-01T09:30:00+0530", "2026-11-01T04:00:00.000Z"],
    ["2026-11-01T09:30:00+05", "2026-11-01T04:30:00.000Z"],
    ["2026-11-01T00:30:00+05:45", "2026-10-31T18:45:00.000Z"],
    ["2028-02-29T23:30:00-01:00", "2028-03-01T00:30:00.000Z"],
    ["2026-11-01T09:30:00.250+23:59", "2026-10-31T09:31:00.250Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
    ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
  ])("%s is %s, as startDate and as endDate", (text, instant) => {
    expect(startOf(text)).toBe(instant);
    expect(endOf(text)).toBe(instant);
  });

  it("is the same instant as in Temporal, at any offset", () => {
    const instant = fc.date({
      min: new Date("0001-01-03T00:00Z"),
      max: new Date("9999-12-29T00:00Z"),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instant, fc.integer({ min: -1439, max: 1439 }), (date, minutes) => {
        const size = Math.abs(minutes);
        const pad = (part: number) => String(part).padStart(2, "0");
        const timeZone = `${minutes < 0 ? "-" : "+"}${pad(Math.trunc(size / 60))}:${pad(size % 60)}`;
        const text = Temporal.Instant.from(date.toISOString()).toString({ timeZone });
        expect(startOf(text)).toBe(date.toISOString());
        expect(endOf(text.replace("+", " "))).toBe(date.toISOString());
      }),
    );
  });
});

describe("an omitted parameter", () => {
  it("defaults to 30 days before now for startDate and to now for endDate", () => {
    const { start, end } = periodOf("", "");
    expect([iso(start), iso(end)]).toEqual([
      "2026-10-21T09:30:00.123Z",
      "2026-11-20T09:30:00.123Z",
    ]);
  });

  it("does not affect the other parameter", () => {
    expect(iso(periodOf("2020-01-01", "").end)).toBe("2026-11-20T09:30:00.123Z");
    expect(iso(periodOf("", "2026-11-01").start)).toBe("2026-10-21T09:30:00.123Z");
  });

  it("defaults to 30 days of 24 hours, whatever the length of the month", () => {
    const now = Date.parse("2028-03-01T00:00:00.000Z");
    expect(iso(periodOf("", "", now).start)).toBe("2028-01-31T00:00:00.000Z");
  });
});
