import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromDatetime, toDatetime } from "../../../src/db/datetime.ts";
import { END, monthBefore, nextMonth, START, segmentsOf } from "../../../src/rollup/timeline.ts";

describe("the next month", () => {
  it.each([
    ["2026-11-20 09:30:00.123", "2026-12-01 00:00:00.000"],
    ["2026-11-01 00:00:00.000", "2026-12-01 00:00:00.000"],
    ["2026-11-30 23:59:59.999", "2026-12-01 00:00:00.000"],
    ["2026-12-01 00:00:00.000", "2027-01-01 00:00:00.000"],
    ["2026-12-31 23:59:59.999", "2027-01-01 00:00:00.000"],
    ["2024-02-29 12:00:00.000", "2024-03-01 00:00:00.000"],
    ["1999-12-31 00:00:00.000", "2000-01-01 00:00:00.000"],
    ["9999-11-30 23:59:59.999", "9999-12-01 00:00:00.000"],
    [START, "0001-02-01 00:00:00.000"],
  ])("after %s starts at %s", (at, next) => {
    expect(nextMonth(at)).toBe(next);
  });

  it.each(["9999-12-01 00:00:00.000", "9999-12-31 12:00:00.000", END])("after %s is END", (at) => {
    expect(nextMonth(at)).toBe(END);
  });
});

describe("the month before an instant", () => {
  it.each([
    ["2026-11-20 09:30:00.123", 202611],
    ["2026-11-01 00:00:00.001", 202611],
    ["2026-11-01 00:00:00.000", 202610],
    ["2026-12-31 23:59:59.999", 202612],
    ["2027-01-01 00:00:00.000", 202612],
    ["2027-01-01 00:00:00.001", 202701],
    ["2000-01-01 00:00:00.000", 199912],
    ["9999-12-01 00:00:00.000", 999911],
    [END, 999912],
  ])("%s is %i", (at, month) => {
    expect(monthBefore(at)).toBe(month);
  });

  it("is the month that ends there, at the first instant of a month", () => {
    for (let month = 0; month < 48; month++) {
      const [year, number] = [2023 + Math.floor(month / 12), (month % 12) + 1];
      const within = `${year}-${String(number).padStart(2, "0")}-15 00:00:00.000`;
      expect(monthBefore(nextMonth(within))).toBe(year * 100 + number);
    }
  });
});

it("instants convert to DATETIME text and back in UTC, whatever the zone of the process", () => {
  expect(toDatetime(Date.UTC(2026, 10, 20, 9, 30, 0, 123))).toBe("2026-11-20 09:30:00.123");
  expect(fromDatetime("2026-03-08 02:30:00.000")).toBe(Date.UTC(2026, 2, 8, 2, 30));
});

describe("the segments that overlap spans", () => {
  const CHECKPOINTS = ["b", "d", "f", END];
  it.each([
    ["no spans", [], []],
    ["an instant before the first checkpoint", ["a-a"], ["b"]],
    ["an instant at a checkpoint, where the next segment begins", ["b-b"], ["d"]],
    ["an instant after the last checkpoint but one", ["g-g"], [END]],
    ["END", [`${END}-${END}`], [END]],
    ["a span within one segment", ["b-c"], ["d"]],
    ["a span over several segments", ["c-f"], ["d", "f", END]],
    ["spans that overlap, in any order", ["e-e", "c-e", "a-a"], ["b", "d", "f"]],
  ])("%s", (_, spans, segments) => {
    // Letters stand for instants. END starts with a digit and would sort before them.
    const ordered = (text: string) => (text === END ? "z" : text);
    const parsed = spans.map((span) => {
      const [from = "", to = ""] = span === `${END}-${END}` ? ["z", "z"] : span.split("-");
      return { from, to };
    });
    expect(segmentsOf(parsed, CHECKPOINTS.map(ordered))).toEqual(segments.map(ordered));
  });

  it("are the segments of every instant in the spans", () => {
    const instant = fc.integer({ min: 10, max: 60 }).map(String);
    const span = fc.tuple(instant, instant).map((ends) => {
      const [from = "", to = ""] = ends.sort();
      return { from, to };
    });
    const some = fc.uniqueArray(instant, { maxLength: 8 });
    fc.assert(
      fc.property(some, fc.array(span, { maxLength: 5 }), (instants, spans) => {
        const checkpoints = [...instants.sort(), END];
        const expected = checkpoints.filter((to, index) => {
          const from = checkpoints[index - 1] ?? START;
          const inside = (at: string) => at >= from && (at < to || to === END);
          return spans.some((span) => {
            const all = Array.from({ length: 51 }, (_, offset) => String(10 + offset));
            return all.some((at) => at >= span.from && at <= span.to && inside(at));
          });
        });
        expect(segmentsOf(spans, checkpoints)).toEqual(expected);
      }),
    );
  });
});
