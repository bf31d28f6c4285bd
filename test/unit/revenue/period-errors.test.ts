import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ServiceError } from "../../../src/errors.ts";
import { parsePeriod } from "../../../src/revenue/breakdown/period.ts";

const NOW = Date.parse("2026-11-20T09:30:00.123Z");
const RIGHT = "it should be an ISO 8601 date or date-time, like 2026-11-20 or 2026-11-20T09:30:00Z";

/** What a caller reads of the mistake; "" where there was none. */
function mistakeOf(startDate: string, endDate: string): string {
  try {
    parsePeriod(startDate, endDate, NOW);
    return "";
  } catch (thrown) {
    if (!(thrown instanceof ServiceError)) throw thrown;
    return `${thrown.kind}: ${thrown.message}`;
  }
}

describe("a text that is no date", () => {
  it.each([
    // white space
    [" "],
    ["\t"],
    [" 2026-11-01"],
    ["2026-11-01 "],
    ["2026-11-01\n"],
    ["2026-11-01T09:30:00Z "],
    // other formats of ISO 8601
    ["20261101"],
    ["20261101T093000Z"],
    ["2026-11"],
    ["2026"],
    ["2026-W45"],
    ["2026-W45-7"],
    ["2026-305"],
    ["+002026-11-01"],
    ["-0001-01-01"],
    ["2026-11-01T09"],
    ["2026-11-01T09Z"],
    ["2026-11-01T0930Z"],
    ["T09:30:00Z"],
    ["2026-11-01/2026-11-02"],
    // parts that are missing, or too many
    ["2026-11-1"],
    ["26-11-01"],
    ["2026-11-01T"],
    ["2026-11-01Z"],
    ["2026-11-01+02:00"],
    ["2026-11-01T09:30:00."],
    ["2026-11-01T09:30:00.Z"],
    ["2026-11-01T9:30:00Z"],
    ["2026-11-01T09:30:00+2"],
    ["2026-11-01T09:30:00+02:0"],
    ["2026-11-01T09:30:00+02:00:00"],
    ["2026-11-01T09:30:00ZZ"],
    ["2026-11-01T09:30:00  02:00"],
    ["2026-11-01T09:30.5Z"],
    ["2026-11-01 09:30:00"],
    ["2026-11-01T09:30:00[UTC]"],
    ["2026-11-01T09:30:00 UTC"],
    // other notations
    ["2026/11/01"],
    ["11/01/2026"],
    ["1 November 2026"],
    ["1793525400000"],
    ["now"],
    ["null"],
    ["undefined"],
    ["NaN"],
    ["0"],
    // digits and dashes of other scripts
    ["٢٠٢٦-١١-٠١"],
    ["２０２６-１１-０１"],
    ["2026–11–01"],
    ["2026\u221211\u221201"],
    // what breaks others
    ["'; DROP TABLE charges; --"],
    ["2026-11-01\u0000"],
    ["😀"],
  ])("%j is refused, as either parameter", (text) => {
    const came = JSON.stringify(text);
    expect(mistakeOf(text, "")).toBe(`invalidArgument: startDate is ${came}; ${RIGHT}`);
    expect(mistakeOf("", text)).toBe(`invalidArgument: endDate is ${came}; ${RIGHT}`);
  });

  it("is shown up to 40 characters", () => {
    const long = `2026-11-01T09:30:00.${"1".repeat(1_000_000)}X`;
    expect(mistakeOf(long, "")).toBe(
      `invalidArgument: startDate is "2026-11-01T09:30:00.${"1".repeat(20)}…"; ${RIGHT}`,
    );
  });
});

describe("a date that does not exist", () => {
  const NO_DAY = (day: string) => `there is no day ${day}`;
  const TIME = "a day's time goes from 00:00:00 to 23:59:59";
  const OFFSET = "an offset goes from -23:59 to +23:59";
  const YEARS = "the years go from 0001 to 9999, in UTC";
  it.each([
    ["2026-02-29", NO_DAY("2026-02-29")],
    ["2100-02-29", NO_DAY("2100-02-29")],
    ["2024-02-30", NO_DAY("2024-02-30")],
    ["2026-04-31", NO_DAY("2026-04-31")],
    ["2026-11-00", NO_DAY("2026-11-00")],
    ["2026-00-01", NO_DAY("2026-00-01")],
    ["2026-13-01", NO_DAY("2026-13-01")],
    ["2026-99-99", NO_DAY("2026-99-99")],
    ["2026-02-29T12:00:00Z", NO_DAY("2026-02-29")],
    ["2026-11-01T24:00:00Z", TIME],
    ["2026-11-01T24:00", TIME],
    ["2026-11-01T09:60:00Z", TIME],
    ["2026-11-01T09:30:60Z", TIME],
    ["2016-12-31T23:59:60Z", TIME],
    ["2026-11-01T09:30:00+24:00", OFFSET],
    ["2026-11-01T09:30:00-00:60", OFFSET],
    ["2026-11-01T09:30:00 99", OFFSET],
    ["0000-01-01", YEARS],
    ["0000-12-31T23:59:59.999Z", YEARS],
    ["0001-01-01T00:00:00+00:01", YEARS],
    ["9999-12-31T23:59:59-00:01", YEARS],
  ])("%s is refused, and told why", (text, why) => {
    const rest = `is ${JSON.stringify(text)} (${why}); ${RIGHT}`;
    expect(mistakeOf(text, "")).toBe(`invalidArgument: startDate ${rest}`);
    expect(mistakeOf("", text)).toBe(`invalidArgument: endDate ${rest}`);
  });
});

describe("a period that ends before it starts", () => {
  it.each([
    [
      "2026-11-02",
      "2026-11-01",
      "startDate must not be after endDate: startDate is 2026-11-02T00:00:00.000Z, endDate is 2026-11-01T23:59:59.999Z",
    ],
    [
      "2026-11-01T00:00:00.001Z",
      "2026-11-01T00:00:00Z",
      "startDate must not be after endDate: startDate is 2026-11-01T00:00:00.001Z, endDate is 2026-11-01T00:00:00.000Z",
    ],
    [
      "2026-11-01T09:00:00+01:00",
      "2026-11-01T09:00:00+02:00",
      "startDate must not be after endDate: startDate is 2026-11-01T08:00:00.000Z, endDate is 2026-11-01T07:00:00.000Z",
    ],
    [
      "2026-11-21",
      "",
      "startDate must not be after endDate: startDate is 2026-11-21T00:00:00.000Z, and without endDate the period ends now, at 2026-11-20T09:30:00.123Z",
    ],
    [
      "",
      "2026-10-20",
      "startDate is needed: without it the period starts 30 days before now, at 2026-10-21T09:30:00.123Z, which is after endDate, 2026-10-20T23:59:59.999Z",
    ],
    [
      "",
      "2026-10-21T09:30:00.122Z",
      "startDate is needed: without it the period starts 30 days before now, at 2026-10-21T09:30:00.123Z, which is after endDate, 2026-10-21T09:30:00.122Z",
    ],
  ])("from %j to %j is refused", (startDate, endDate, message) => {
    expect(mistakeOf(startDate, endDate)).toBe(`invalidArgument: ${message}`);
  });

  it("is not so at the very millisecond of its start", () => {
    expect(mistakeOf("", "2026-10-21T09:30:00.123Z")).toBe("");
  });
});

it("startDate is judged before endDate", () => {
  expect(mistakeOf("x", "y")).toBe(`invalidArgument: startDate is "x"; ${RIGHT}`);
});

it("any text is either a period or a mistake of the caller, in one line", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.stringMatching(/^[-0-9TtZz:., +]{0,30}$/),
    fc.stringMatching(/^\d{4}-[01]\d-[0-3]\dT[0-2]\d:\d\d:\d\d\.\d+[+-]\d\d:\d\d$/),
  );
  fc.assert(
    fc.property(text, text, (startDate, endDate) => {
      expect(mistakeOf(startDate, endDate)).toMatch(/^$|^invalidArgument: (start|end)Date [^\n]+$/);
    }),
  );
});
