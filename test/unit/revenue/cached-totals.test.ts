/** When the charges of cached edges are read again, and what makes cached totals outdated. */
import { describe, expect, it } from "vitest";
import {
  areUnchanged,
  type CachedTotals,
  edgesOf,
  fitsPeriod,
  mustVerify,
} from "../../../src/revenue/breakdown/cached-totals.ts";
import { TotalsByOwner } from "../../../src/revenue/breakdown/totals.ts";

const END = "9999-12-31 23:59:59.999";

function cached(changes: Partial<CachedTotals> = {}): CachedTotals {
  return {
    start: "2026-03-02",
    end: "2026-11-20",
    beforeStart: "2026-03-01",
    afterStart: "2026-04-01",
    afterEnd: "2026-12-01",
    edges: edgesOf([], []),
    verifiedAt: 10_000,
    byOwner: new TotalsByOwner(),
    ...changes,
  };
}

describe("cached totals fit a period", () => {
  it.each([
    ["with the same edges", "2026-03-02", "2026-11-20", true],
    ["whose edges are later in their segments", "2026-03-31", "2026-11-30", true],
    ["unless it starts earlier", "2026-03-01", "2026-11-20", false],
    ["unless it starts after the segment", "2026-04-01", "2026-11-20", false],
    ["unless it ends earlier", "2026-03-02", "2026-11-19", false],
    ["unless it ends after the segment", "2026-03-02", "2026-12-01", false],
  ])("%s", (_, start, end, expected) => {
    expect(fitsPeriod(cached(), start, end)).toBe(expected);
  });

  it("that ends at the last instant of all, in the last segment", () => {
    expect(fitsPeriod(cached({ afterEnd: END }), "2026-03-02", END)).toBe(true);
  });
});

describe("the charges of the edges", () => {
  const charges = (gross: string, charges: number) => [{ gross, charges: String(charges) }];

  it("are summed up as the database formats them", () => {
    const two = [...charges("0.05", 1), ...charges("-1.00", 2)];
    expect(edgesOf(two, [])).toEqual({ start: "3 -0.95", end: "0 0.00", charges: 3 });
  });

  it.each([
    ["are read for every answer if they are fewer than 3,000", 1_999, 0, true],
    ["are not read within a second if they are more", 2_000, 999, false],
    ["are read again after a second", 2_000, 1_000, true],
  ])("%s", (_, atStart, ms, expected) => {
    const edges = edgesOf(charges("1.00", atStart), charges("1.00", 1_000));
    expect(mustVerify(cached({ edges }), 10_000 + ms)).toBe(expected);
  });

  it.each([
    ["the same", { edgeAtStart: "1 2.00", edgeAtEnd: "3 4.00" }, true],
    ["another number", { edgeAtStart: "2 2.00", edgeAtEnd: "3 4.00" }, false],
    ["another gross", { edgeAtStart: "1 2.00", edgeAtEnd: "3 4.01" }, false],
    ["none", { edgeAtStart: "", edgeAtEnd: "" }, false],
  ])("are unchanged only if they are: %s", (_, found, expected) => {
    const totals = cached({ edges: edgesOf(charges("2.00", 1), charges("4.00", 3)) });
    expect(areUnchanged(totals, [found])).toBe(expected);
  });

  it("are unchanged without a rollup, whether or not it has a row", () => {
    expect(areUnchanged(cached(), [])).toBe(true);
    expect(areUnchanged(cached(), [{ edgeAtStart: "", edgeAtEnd: "" }])).toBe(true);
  });
});
