/** Invalid periods and the messages of their errors. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ServiceError } from "../../../src/errors.ts";
import { completePeriod, parsePeriod } from "../../../src/revenue/period.ts";

const NOW = Date.parse("2026-11-20T09:30:00.123Z");
const EXPECTED =
  "expected an ISO 8601 date or date-time such as 2026-11-20 or 2026-11-20T09:30:00Z, got";

/** The kind and the message of the error; "" without an error. */
function errorOf(startDate: string, endDate: string): string {
  try {
    completePeriod(parsePeriod(startDate, endDate), NOW);
    return "";
  } catch (thrown) {
    if (!(thrown instanceof ServiceError)) throw thrown;
    return `${thrown.kind}: ${thrown.message}`;
  }
}

/** The control characters of the cases below, as the message shows them. */
function escaped(text: string): string {
  return text.replace("\t", "\\u{9}").replace("\n", "\\u{a}");
}

describe("a text that is not a date", () => {
  it.each([
    // white space
    ...[" ", "\t", "2026-11-01 ", "2026-11-01\n", "2026-11-01T09:30:00Z "],
    // other formats of ISO 8601
    ...["20261101T093000Z", "2026-11", "2026-W45-7", "2026-305", "+002026-11-01", "-0001-01-01"],
    ...["2026-11-01T09", "2026-11-01T0930Z", "2026-11-01/2026-11-02"],
    // missing or superfluous parts
    ...["2026-11-1", "2026-11-01Z", "2026-11-01+02:00", "2026-11-01T09:30:00."],
    ...["2026-11-01T09:30:00+02:0", "2026-11-01T09:30:00  02:00", "2026-11-01T09:30.5Z"],
    ...["2026-11-01 09:30:00", "2026-11-01T09:30:00[UTC]"],
    // other notations
    ...["2026/11/01", "1 November 2026", "1793525400000", "now"],
    // digits and dashes of other scripts
    ...["٢٠٢٦-١١-٠١", "2026–11–01"],
    // injection, and characters outside the first plane
    ...["'; DROP TABLE charges; --", "😀"],
  ])("%j is rejected as startDate and as endDate", (text) => {
    expect(errorOf(text, "")).toBe(`invalidArgument: startDate: ${EXPECTED} "${escaped(text)}"`);
    expect(errorOf("", text)).toBe(`invalidArgument: endDate: ${EXPECTED} "${escaped(text)}"`);
  });

  it.each([
    ["2026-11-01\u0000", "2026-11-01\\u{0}"],
    ["\u202e2026", "\\u{202e}2026"],
    ["2026-11-01\u00a0", "2026-11-01\\u{a0}"],
    ["\ud800", "\\u{d800}"],
    ['"\\', '\\"\\\\'],
  ])("%j is escaped in the message", (text, shown) => {
    expect(errorOf(text, "")).toBe(`invalidArgument: startDate: ${EXPECTED} "${shown}"`);
  });

  it("is truncated to 48 characters in the message", () => {
    const long = `2026-11-01T09:30:00.${"1".repeat(1_000_000)}X`;
    expect(errorOf(long, "")).toBe(
      `invalidArgument: startDate: ${EXPECTED} "2026-11-01T09:30:00.${"1".repeat(28)}…"`,
    );
  });
});

describe("a date that does not exist", () => {
  const NO_DAY = (day: string) => `${day} is not a day of the calendar`;
  const TIME = "the time must be 00:00:00 to 23:59:59";
  const OFFSET = "the offset must be -23:59 to +23:59";
  const YEARS = "the year must be 0001 to 9999, in UTC";
  it.each([
    ["2026-02-29", NO_DAY("2026-02-29")],
    ["2100-02-29", NO_DAY("2100-02-29")],
    ["2024-02-30", NO_DAY("2024-02-30")],
    ["2026-11-00", NO_DAY("2026-11-00")],
    ["2026-13-01", NO_DAY("2026-13-01")],
    ["2026-02-29T12:00:00Z", NO_DAY("2026-02-29")],
    ["2026-11-01T24:00:00Z", TIME],
    ["2026-11-01T09:60:00Z", TIME],
    ["2026-11-01T09:30:60Z", TIME],
    ["2026-11-01T09:30:00+24:00", OFFSET],
    ["2026-11-01T09:30:00-00:60", OFFSET],
    ["0000-01-01", YEARS],
    ["0000-12-31T23:59:59.999Z", YEARS],
    ["0001-01-01T00:00:00+00:01", YEARS],
    ["9999-12-31T23:59:59-00:01", YEARS],
  ])("%s is rejected with the reason", (text, reason) => {
    const message = `${EXPECTED} "${text}" (${reason})`;
    expect(errorOf(text, "")).toBe(`invalidArgument: startDate: ${message}`);
    expect(errorOf("", text)).toBe(`invalidArgument: endDate: ${message}`);
  });
});

describe("a period that ends before it starts", () => {
  it.each([
    [
      "2026-11-02",
      "2026-11-01",
      "startDate: expected an instant at or before endDate (2026-11-01T23:59:59.999Z), got 2026-11-02T00:00:00.000Z",
    ],
    [
      "2026-11-01T09:00:00+01:00",
      "2026-11-01T09:00:00+02:00",
      "startDate: expected an instant at or before endDate (2026-11-01T07:00:00.000Z), got 2026-11-01T08:00:00.000Z",
    ],
    [
      "2026-11-21",
      "",
      "startDate: expected an instant at or before endDate (now, 2026-11-20T09:30:00.123Z), got 2026-11-21T00:00:00.000Z",
    ],
    [
      "",
      "2026-10-21T09:30:00.122Z",
      "startDate: required because the default, 30 days before now (2026-10-21T09:30:00.123Z), is after endDate (2026-10-21T09:30:00.122Z)",
    ],
  ])("from %j to %j is rejected", (startDate, endDate, message) => {
    expect(errorOf(startDate, endDate)).toBe(`invalidArgument: ${message}`);
  });

  it("is valid if it starts and ends at the same millisecond", () => {
    expect(errorOf("", "2026-10-21T09:30:00.123Z")).toBe("");
  });
});

it("startDate is validated before endDate", () => {
  expect(errorOf("x", "y")).toBe(`invalidArgument: startDate: ${EXPECTED} "x"`);
});

const anyText = fc.oneof(
  fc.string({
    unit: fc.integer({ min: 0, max: 0x10_ffff }).map((code) => String.fromCodePoint(code)),
  }),
  fc.stringMatching(/^[-0-9TtZz:., +]{0,30}$/),
  fc.stringMatching(/^\d{4}-[01]\d-[0-3]\dT[0-2]\d:\d\d:\d\d\.\d+[+-]\d\d:\d\d$/),
);

it("any two texts are a period or an invalid argument, whose message is one visible line", () => {
  fc.assert(
    fc.property(anyText, anyText, (startDate, endDate) => {
      expect(errorOf(startDate, endDate)).toMatch(
        /^$|^invalidArgument: (start|end)Date: [^\p{C}\p{Zl}\p{Zp}]+$/u,
      );
    }),
  );
});
