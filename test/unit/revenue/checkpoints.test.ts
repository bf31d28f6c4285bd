/** Which checkpoints a list of the latest ones tells. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aroundIn } from "../../../src/revenue/breakdown/checkpoints.ts";
import { MAX_LATEST } from "../../../src/rollup/read/sql.ts";
import { END, START } from "../../../src/rollup/timeline.ts";

/** An instant: "2026-01-01 00:00:00.007" is the seventh. */
const instant = (ms: number) => `2026-01-01 00:00:00.${String(ms).padStart(3, "0")}`;
const ANY = fc.integer({ min: 0, max: 30 }).map(instant);

describe("a list of all checkpoints", () => {
  it("tells those around any instant", () => {
    fc.assert(
      fc.property(fc.uniqueArray(ANY, { maxLength: 20 }), ANY, (some, at) => {
        const checkpoints = [...some.toSorted(), END];
        expect(aroundIn(checkpoints, at)).toEqual({
          before: checkpoints.findLast((checkpoint) => checkpoint <= at) ?? "",
          after: checkpoints.find((checkpoint) => checkpoint > at),
        });
      }),
    );
  });

  it("tells those around the first and the last instant", () => {
    expect(aroundIn([instant(1), END], START)).toEqual({ before: "", after: instant(1) });
    expect(aroundIn([END], START)).toEqual({ before: "", after: END });
    expect(aroundIn([instant(1), END], END)).toMatchObject({ after: END });
  });
});

describe("a list of the latest checkpoints", () => {
  const latest = [...Array(MAX_LATEST - 1).keys()].map((ms) => instant(ms + 1));
  const checkpoints = [...latest, END].toSorted();

  it("tells those around an instant at or after the first of them", () => {
    const [first = "", second = ""] = checkpoints;
    expect(checkpoints).toHaveLength(MAX_LATEST);
    expect(aroundIn(checkpoints, first)).toEqual({ before: first, after: second });
    expect(aroundIn(checkpoints, "2026-12-31 00:00:00.000")).toMatchObject({ after: END });
  });

  it("does not tell those around an earlier instant", () => {
    expect(aroundIn(checkpoints, instant(0))).toBeUndefined();
    expect(aroundIn(checkpoints.slice(1), instant(0))).toEqual({ before: "", after: instant(2) });
  });
});

it("an empty list tells nothing", () => {
  expect(aroundIn([], instant(0))).toBeUndefined();
});
