/** The days of a period: which they are by default, which of them are partial, and at which times of day they begin. */
import { expect, it } from "vitest";
import { daysOf, defaultStart, isPartial } from "../../../src/revenue/daily/days.ts";
import { timeParameters } from "../../../src/revenue/daily/reader.ts";
import { completePeriod, parsePeriod } from "../../../src/revenue/period.ts";

const [HOUR, DAY] = [3_600_000, 86_400_000];
const iso = (instant: number) => new Date(instant).toISOString();

it.each([
  // 30 days, today included; those that end with an end alone, also long ago, after now, and at the first of all
  ["", "", "UTC", "2026-10-22T00:00:00.000Z", 30, "2026-11-20"],
  ["", "2026-11-19T12:00:00Z", "UTC", "2026-10-21T00:00:00.000Z", 30, "2026-11-19"],
  ["", "2026-11-19", "America/New_York", "2026-10-21T04:00:00.000Z", 30],
  ["", "0001-01-05", "UTC", "0001-01-01T00:00:00.000Z", 5],
  // a start alone: up to now
  ["2026-11-19", "", "UTC", "2026-11-19T00:00:00.000Z", 2, "2026-11-20"],
  // times are exact
  [
    ...(["2026-11-17T00:00:00.001Z", "2026-11-19T23:59:59.998Z", "UTC"] as const),
    ...(["2026-11-17T00:00:00.001Z", 3, "2026-11-17", "2026-11-19"] as const),
  ],
  // a day is partial up to its last millisecond, and until it is over
  ["2026-11-19", "2026-11-19T23:59:59.999Z", "UTC", "2026-11-19T00:00:00.000Z", 1],
  ["2026-11-20", "2026-11-21", "UTC", "2026-11-20T00:00:00.000Z", 2, "2026-11-20", "2026-11-21"],
] as const)("from %j to %j in %s: %j", (...row) => {
  const [startDate, endDate, zone, start, count, ...partial] = row;
  const now = Date.parse("2026-11-20T09:30:00.123Z");
  const requested = parsePeriod(startDate, endDate, zone);
  const period = completePeriod(requested, now, defaultStart(requested, now, zone));
  expect(iso(period.start)).toBe(start);
  const days = daysOf(period, zone);
  expect(days).toHaveLength(count);
  expect(days.filter((day) => isPartial(day, period, now)).map(({ date }) => date)).toEqual(
    partial,
  );
});

it("days that begin at more than four times of day are an error, and not added to one another", () => {
  const [start, end] = [Date.parse("2026-11-01T18:30:00Z"), Date.parse("2026-11-20T09:30:00Z")];
  const parametersOf = (times: number) =>
    timeParameters(
      daysOf({ start, end }, "Asia/Kolkata").map((day, nth) => {
        const start = day.start + (nth % times) * HOUR;
        return { ...day, start, end: start + DAY };
      }),
    );
  expect(parametersOf(4)).toMatchObject({ time0: "66600", time3: "77400" });
  expect(() => parametersOf(5)).toThrow("days begin at more than 4 times of day (UTC)");
});

it("the days of the longest period begin at four times of day at most", () => {
  const start = Date.parse("1918-05-29T12:00:00Z");
  const days = daysOf({ start, end: start + 399 * DAY }, "Europe/Moscow");
  expect(new Set(Object.values(timeParameters(days))).size).toBe(4);
});
