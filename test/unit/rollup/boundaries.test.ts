/** Where the stored sums of an answer begin and end, by table. */
import { describe, expect, it } from "vitest";
import { boundariesOf, boundariesOfLeaves } from "../../../src/rollup/read/boundaries.ts";
import type { Length } from "../../../src/rollup/stretches.ts";

const at = (text: string) => Date.parse(`${text.replace(" ", "T")}Z`);
const BEFORE_ALL = "0000-00-00 00:00:00.000";

const full = (text: string) => `${text}${" 00:00:00.000".slice(text.length - 10)}`;

it.each<[Length, start: string, end: string, first: string, last: string]>([
  // From a boundary to the instant before another one: both ends are boundaries.
  ["P1D", "2026-11-01", "2026-11-30 23:59:59.999", "2026-11-01", "2026-12-01"],
  ["P1D", "2026-11-01 00:00:00.001", "2026-11-30 23:59:59.998", "2026-11-02", "2026-11-30"],
  // None lies between: the first comes after the last.
  ["P1D", "2026-11-20 09:00", "2026-11-20 10:00", "2026-11-21", "2026-11-20"],
  // The last leaf of a month ends with it.
  ["P16D", "2026-11-17 00:00:00.001", "2026-12-16 23:59:59.999", "2026-12-01", "2026-12-17"],
  // What is dated before the first instant counts as dated at it: the first boundary is before all rows.
  ["P1M", "0001-01-01", "2026-11-30 23:59:59.999", BEFORE_ALL, "2026-12-01"],
  ["P1M", "0001-01-01 00:00:00.001", "0001-01-20", "0001-02-01", BEFORE_ALL],
  ["P1M", "9999-12-31 23:59:59.999", "2026-11-20", "9999-12-31 23:59:59.999", "2026-11-01"],
])("the boundaries of leaves of %s from %s to %s", (leaf, start, end, first, last) => {
  const [from, to] = [at(full(start)), at(full(end))];
  expect(boundariesOfLeaves(leaf, from, to)).toEqual({ first: full(first), last: full(last) });
});

describe("the boundaries of a period", () => {
  const [FIRST, LAST] = ["2026-11-02 00:00:00.000", "2026-11-20 00:00:00.000"];
  const ofCalendar = { first: FIRST, last: LAST };
  const boundaries = (watermark: string, end: string, first = FIRST) =>
    boundariesOf(watermark, at(end), { ...ofCalendar, first });

  it.each([
    ["ends before the watermark: its own", "2026-11-20 09:00:00.001", LAST],
    ["reaches it: everything covered", "2026-11-20 09:00:00.000", "2026-11-20 09:00:00.001"],
    ["goes beyond it", "2026-11-15 23:59:59.999", "2026-11-16 00:00:00.000"],
  ])("that %s", (_, watermark, last) => {
    const end = "2026-11-20 09:00:00.000";
    expect(boundaries(watermark, end)).toEqual({ first: FIRST, last });
  });

  // Regression: dates that do not exist sort after the last instant of a month, and before the next one.
  it.each([
    ["2026-11-29 23:59:59.999", "2026-11-30 00:00:00.000"],
    ["2026-11-30 23:59:59.999", "2026-11-31 00:00:00.000"],
    ["2026-12-31 23:59:59.999", "2027-00-00 00:00:00.000"],
  ])("that reaches a watermark of %s have nothing after it", (watermark, last) => {
    const first = "2026-10-02 00:00:00.000";
    expect(boundaries(watermark, "2027-02-01 00:00:00.000", first)).toEqual({ first, last });
  });

  it("are one and the same if none lies in the period", () => {
    const end = "2026-11-20 09:00:00.000";
    const inOneLeaf = boundaries("2026-11-20 09:30:00.000", end, "2026-11-21 00:00:00.000");
    expect(inOneLeaf).toEqual({ first: LAST, last: LAST });
    // Its start is after the watermark.
    const after = boundaries("2026-11-01 12:00:00.000", end);
    expect(after).toEqual({
      first: "2026-11-01 12:00:00.001",
      last: "2026-11-01 12:00:00.001",
    });
  });
});
