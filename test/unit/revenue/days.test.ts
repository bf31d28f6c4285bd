/** The days of a period as parameters of a statement, without a database. */
import { expect, it } from "vitest";
import { daysOf, listDays, questionFor } from "../../../src/revenue/daily/days.ts";

const [HOUR, DAY] = [3_600_000, 86_400_000];
const NOW = Date.parse("2026-11-20T09:30:00Z");

it("days that begin at more than four times of day are an error, and not added to one another", () => {
  const zone = "Asia/Kolkata";
  const days = daysOf({ start: Date.parse("2026-11-01T18:30:00Z"), end: undefined }, NOW, zone);
  const list = (times: number) =>
    listDays(days.from, days.to, zone).map((day, nth) => {
      const start = day.start + (nth % times) * HOUR;
      return { ...day, start, end: start + DAY };
    });
  const question = (times: number) =>
    questionFor({ start: undefined, end: undefined }, days, list(times), zone);
  expect(question(4).values).toMatchObject({ leaf: "PT15M", time0: "66600", time3: "77400" });
  expect(() => question(5)).toThrow("days of Asia/Kolkata begin at more than 4 times of day (UTC)");
});

it("a period that is too long is no such error, though its last day begins at a further time", () => {
  const zone = "Europe/Moscow";
  const requested = { start: Date.parse("1918-05-29T12:00:00Z"), end: undefined };
  const days = daysOf(requested, NOW, zone);
  const { values } = questionFor(requested, days, listDays(days.from, days.to, zone), zone);
  const times = [0, 1, 2, 3].map((nth) => values[`time${nth}`]);
  expect(new Set(times).size).toBe(4);
});
