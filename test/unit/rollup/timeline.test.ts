import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromDatetime, toDatetime } from "../../../src/db/datetime.ts";
import {
  END,
  endOfMonth,
  monthOf,
  START,
  segmentsOf,
  startOfMonth,
} from "../../../src/rollup/timeline.ts";

describe("a calendar month", () => {
  it.each([
    ["2026-11-20 09:30:00.123", 202611, "2026-11-01", "2026-12-01"],
    ["2026-12-31 23:59:59.999", 202612, "2026-12-01", "2027-01-01"],
    ["2027-01-01 00:00:00.000", 202701, "2027-01-01", "2027-02-01"],
    ["2024-02-29 12:00:00.000", 202402, "2024-02-01", "2024-03-01"],
    ["9999-11-30 23:59:59.999", 999911, "9999-11-01", "9999-12-01"],
    [START, 101, "0001-01-01", "0001-02-01"],
  ])("of %s is %i, from %s to %s", (at, month, from, to) => {
    expect(monthOf(at)).toBe(month);
    expect(startOfMonth(month)).toBe(`${from} 00:00:00.000`);
    expect(endOfMonth(month)).toBe(`${to} 00:00:00.000`);
  });

  it("ends at END if it is the last one", () => {
    expect(monthOf(END)).toBe(999912);
    expect(endOfMonth(999912)).toBe(END);
  });

  it("ends where the next one starts", () => {
    for (let month = 202301; month < 202701; month = monthOf(endOfMonth(month))) {
      expect(startOfMonth(monthOf(endOfMonth(month)))).toBe(endOfMonth(month));
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
    const checkpoints = CHECKPOINTS.map(ordered);
    const found = segmentsOf(parsed, checkpoints).map((index) => checkpoints[index]);
    expect(found).toEqual(segments.map(ordered));
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
        expect(segmentsOf(spans, checkpoints).map((index) => checkpoints[index])).toEqual(expected);
      }),
    );
  });
});
