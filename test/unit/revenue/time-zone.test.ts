/** Time zones: their names, and what dates and date-times without an offset mean in them. */
import { describe, expect, it } from "vitest";
import { ServiceError } from "../../../src/errors.ts";
import { parsePeriod } from "../../../src/revenue/period.ts";
import {
  dateOf,
  dayAt,
  dayOfDate,
  hasDay,
  parseTimeZone,
  startOfDay,
} from "../../../src/revenue/time-zone.ts";

const iso = (instant: number | undefined) => new Date(instant ?? Number.NaN).toISOString();

/** The error that a call throws. */
function errorOf(call: () => unknown): ServiceError {
  try {
    call();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error("expected an error");
}

it.each([
  ["", "UTC"],
  ["asia/kolkata", "Asia/Kolkata"],
  ["Asia/Calcutta", "Asia/Calcutta"],
  ["Etc/GMT+5", "Etc/GMT+5"],
])("%j is the zone %s", (text, zone) => {
  expect(parseTimeZone(text)).toBe(zone);
});

it.each(["CEST", "+05:30", "Asia/Kolkata\0", "Berlin", "x".repeat(100_000)])(
  "%.30j is no zone",
  (text) => {
    const { kind, field, message } = errorOf(() => parseTimeZone(text)) as ServiceError & {
      readonly field: string;
    };
    expect({ kind, field }).toEqual({ kind: "invalidArgument", field: "timeZone" });
    expect(message).toMatch(/^timeZone: expected a name of the IANA time zone database/);
    expect(message.length).toBeLessThan(250);
  },
);

describe("the ends of a period", () => {
  it.each([
    // 23 and 25 hours
    ["Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00.000Z", "2026-03-29T21:59:59.999Z"],
    ["America/New_York", "2026-11-01", "2026-11-01T04:00:00.000Z", "2026-11-02T04:59:59.999Z"],
    // the day before one that never was, and a midnight that is skipped
    ["Pacific/Apia", "2011-12-29", "2011-12-29T10:00:00.000Z", "2011-12-30T09:59:59.999Z"],
    ["America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00.000Z", "2018-11-05T01:59:59.999Z"],
    // a midnight that comes twice
    ["America/St_Johns", "2010-11-07", "2010-11-07T02:30:00.000Z", "2010-11-08T03:29:59.999Z"],
    // seconds, and an offset in the text, which counts
    ["Africa/Monrovia", "1972-01-06", "1972-01-06T00:44:30.000Z", "1972-01-07T00:44:29.999Z"],
    ["Asia/Kolkata", "2026-11-01T00:00Z", "2026-11-01T00:00:00.000Z"],
    // local times that come twice, and that are skipped
    ["America/New_York", "2026-11-01T01:30", "2026-11-01T05:30:00.000Z"],
    ["America/New_York", "2026-03-08T02:30", "2026-03-08T07:30:00.000Z"],
  ])("in %s, %s", (zone, text, start, end = start) => {
    const period = parsePeriod(text, text, zone);
    expect([iso(period.start), iso(period.end)]).toEqual([start, end]);
  });

  it.each([
    ["Pacific/Apia", "2011-12-30", "Pacific/Apia has no 2011-12-30"],
    ["Asia/Kolkata", "0001-01-01", "the year must be 0001 to 9999, in UTC"],
  ])("%s has no %s", (zone, text, reason) => {
    expect(errorOf(() => parsePeriod(text, text, zone)).message).toContain(reason);
  });
});

it.each([
  // Clocks that are put back at one minute past midnight, and a day that never was.
  ["America/St_Johns", "2010-11-05"],
  ["Pacific/Apia", "2011-12-28"],
])(
  "in %s each instant from %s on lies in the day whose start is the last one before it",
  (zone, from) => {
    const first = startOfDay(dayOfDate(from), zone);
    for (let instant = first; instant < first + 4 * 86_400_000; instant += 900_000) {
      const day = dayAt(instant, zone);
      expect(hasDay(day, zone)).toBe(true);
      expect(startOfDay(day, zone)).toBeLessThanOrEqual(instant);
      expect(startOfDay(day + 1, zone)).toBeGreaterThan(instant);
    }
  },
);

it("the last day of the calendar may lie after the year 9999", () => {
  const last = dayAt(Date.parse("9999-12-31T23:59:59.999Z"), "Asia/Kathmandu");
  expect(dateOf(last)).toBe("+010000-01-01");
});
