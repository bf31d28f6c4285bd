/** The period of a request: the formats of its ends, the defaults, and the messages of errors. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ServiceError } from "../../../src/errors.ts";
import { completePeriod, parsePeriod } from "../../../src/revenue/period.ts";
import { anyText } from "../../support/any-text.ts";

const NOW = Date.parse("2026-11-20T09:30:00.123Z");
const iso = (instant: number) => new Date(instant).toISOString();
/** The period of a request at `now`. */
const periodOf = (startDate: string, endDate: string, now = NOW) =>
  completePeriod(parsePeriod(startDate, endDate), now);
const startOf = (text: string) => iso(periodOf(text, "9999-12-31").start);
const endOf = (text: string) => iso(periodOf("0001-01-01", text).end);

it.each(["0001-01-01", "9999-12-31", "2024-02-29"])(
  "the date %s is its first millisecond as startDate and its last as endDate",
  (day) => {
    expect(startOf(day)).toBe(`${day}T00:00:00.000Z`);
    expect(endOf(day)).toBe(`${day}T23:59:59.999Z`);
  },
);

describe("a date-time", () => {
  it.each([
    // without an offset: UTC
    ["2026-11-01T09:30", "2026-11-01T09:30:00.000Z"],
    ["2026-11-01t09:30:15", "2026-11-01T09:30:15.000Z"],
    // in the hour that the tests' time zone, New York, skips
    ["2026-03-08T02:30:00", "2026-03-08T02:30:00.000Z"],
    // fractions, truncated to the millisecond
    ["2026-11-01T09:30:15,123Z", "2026-11-01T09:30:15.123Z"],
    [`2026-11-01T09:30:15.${"9".repeat(100)}Z`, "2026-11-01T09:30:15.999Z"],
    // offsets
    ["2026-11-01T09:30 0200", "2026-11-01T07:30:00.000Z"],
    ["2026-11-01T09:30:00\u221202:00", "2026-11-01T11:30:00.000Z"],
    ["2026-11-01T09:30:00+05", "2026-11-01T04:30:00.000Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
  ])("%s is %s, as startDate and as endDate", (text, instant) => {
    expect(startOf(text)).toBe(instant);
    expect(endOf(text)).toBe(instant);
  });

  it("is the same instant as in Temporal, at any offset", () => {
    const [min, max] = [new Date("0001-01-03T00:00Z"), new Date("9999-12-29T00:00Z")];
    const instant = fc.date({ min, max, noInvalidDate: true });
    const offset = fc.integer({ min: -1439, max: 1439 });
    fc.assert(
      fc.property(instant, offset, (date, minutes) => {
        const time = Temporal.PlainTime.from("00:00").add({ minutes: Math.abs(minutes) });
        const timeZone = `${minutes < 0 ? "-" : "+"}${time.toString().slice(0, 5)}`;
        const text = Temporal.Instant.from(date.toISOString()).toString({ timeZone });
        expect(startOf(text)).toBe(date.toISOString());
        expect(endOf(text.replace("+", " "))).toBe(date.toISOString());
      }),
    );
  });
});

it.each([
  ["", "", "2026-10-21T09:30:00.123Z", "2026-11-20T09:30:00.123Z"],
  ["2020-01-01", "", "2020-01-01T00:00:00.000Z", "2026-11-20T09:30:00.123Z"],
  ["", "2026-11-01", "2026-10-21T09:30:00.123Z", "2026-11-01T23:59:59.999Z"],
  ["", "2026-10-21T09:30:00.123Z", "2026-10-21T09:30:00.123Z", "2026-10-21T09:30:00.123Z"],
])("from %j to %j is %s to %s: 30 days of 24 hours before now, and now", (...row) => {
  const [startDate, endDate, ...expected] = row;
  const { start, end } = periodOf(startDate, endDate);
  expect([iso(start), iso(end)]).toEqual(expected);
});

const EXPECTED =
  "expected an ISO 8601 date or date-time such as 2026-11-20 or 2026-11-20T09:30:00Z, got";

/** The kind and the message of the error; "" without an error. */
function errorOf(startDate: string, endDate: string): string {
  try {
    periodOf(startDate, endDate);
    return "";
  } catch (thrown) {
    if (!(thrown instanceof ServiceError)) throw thrown;
    return `${thrown.kind}: ${thrown.message}`;
  }
}

it.each([
  // other formats of ISO 8601, missing or superfluous parts, other notations
  ...["20261101T093000Z", "2026-W45-7", "+002026-11-01", "2026-11-1", "2026-11-01Z", "2026-11-01 "],
  ...["2026-11-01T09", "2026-11-01T09:30:00.", "2026-11-01T09:30:00  02:00", "2026-11-01 09:30:00"],
  ...["2026-11-01T09:30:00[UTC]", "1793525400000", "now", "٢٠٢٦-١١-٠١", " "],
])("the text %j, which is not a date, is rejected as startDate and as endDate", (text) => {
  expect(errorOf(text, "")).toBe(`invalidArgument: startDate: ${EXPECTED} "${text}"`);
  expect(errorOf("", text)).toBe(`invalidArgument: endDate: ${EXPECTED} "${text}"`);
  expect(errorOf(text, "y")).toBe(`invalidArgument: startDate: ${EXPECTED} "${text}"`);
});

const NO_DAY = (day: string) => `${day} is not a day of the calendar`;
const TIME = "the time must be 00:00:00 to 23:59:59";
const OFFSET = "the offset must be -23:59 to +23:59";
const YEARS = "the year must be 0001 to 9999, in UTC";

it.each([
  ["2100-02-29", NO_DAY("2100-02-29")],
  ["2026-11-01T24:00:00Z", TIME],
  ["2026-11-01T09:30:00+24:00", OFFSET],
  ["2026-11-01T09:30:00-00:60", OFFSET],
  ["0001-01-01T00:00:00+00:01", YEARS],
  ["9999-12-31T23:59:59-00:01", YEARS],
])("%s does not exist, and is rejected with the reason", (text, reason) => {
  const message = `${EXPECTED} "${text}" (${reason})`;
  expect(errorOf(text, "")).toBe(`invalidArgument: startDate: ${message}`);
  expect(errorOf("", text)).toBe(`invalidArgument: endDate: ${message}`);
});

it.each([
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
])("a period that ends before it starts, from %j to %j, is rejected", (start, end, message) => {
  expect(errorOf(start, end)).toBe(`invalidArgument: ${message}`);
});

it("any two texts are a period or an invalid argument, whose message is one visible line", () => {
  const texts = fc.oneof(
    anyText,
    fc.stringMatching(/^[-0-9TtZz:., +]{0,30}$/),
    fc.stringMatching(/^\d{4}-[01]\d-[0-3]\dT[0-2]\d:\d\d:\d\d\.\d+[+-]\d\d:\d\d$/),
  );
  fc.assert(
    fc.property(texts, texts, (startDate, endDate) => {
      expect(errorOf(startDate, endDate)).toMatch(
        /^$|^invalidArgument: (start|end)Date: [^\p{C}\p{Zl}\p{Zp}]+$/u,
      );
    }),
  );
});
