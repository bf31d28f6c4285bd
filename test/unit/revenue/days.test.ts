/** The days of a period as parameters of a statement, without a database. */
import { expect, it } from "vitest";
import { daysOf } from "../../../src/revenue/daily/days.ts";
import { timeParameters } from "../../../src/revenue/daily/reader.ts";

const [HOUR, DAY] = [3_600_000, 86_400_000];

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

it("the days of a period begin at four times of day at most, whatever the zone did", () => {
  const start = Date.parse("1918-05-29T12:00:00Z");
  const days = daysOf({ start, end: start + 399 * DAY }, "Europe/Moscow");
  expect(new Set(Object.values(timeParameters(days))).size).toBe(4);
});
