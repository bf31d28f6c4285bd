import { describe, expect, it } from "vitest";
import { FIRST_INSTANT, LAST_INSTANT, toDatetime } from "../../../src/db/datetime.ts";
import { chooseLeaf } from "../../../src/rollup/leaves.ts";
import {
  ALL_LENGTHS,
  isLength,
  type Length,
  stretchAt,
  stretchesOf,
} from "../../../src/rollup/stretches.ts";

const midnight = (day: string) => `${day} 00:00:00.000`;

describe("the stretch of an instant", () => {
  // Rollups store these texts. Every length is compared with another calculation in database/rollup/read/any-history.
  it.each([
    ["PT15M", "2026-11-20 09:30:00.000", "2026-11-20 09:45:00.000"],
    ["P16D", midnight("2026-11-17"), midnight("2026-12-01")],
    ["P3M", midnight("2026-10-01"), midnight("2027-01-01")],
    ["P1Y", midnight("2026-01-01"), midnight("2027-01-01")],
  ] as const)("of length %s begins at %s and ends before %s", (length, from, to) => {
    for (const instant of [from, "2026-11-20 09:34:59.999"]) {
      expect(stretchAt(instant, length)).toEqual({ from, to });
    }
    expect(stretchAt(to, length).from).toBe(to);
  });

  it("is that of no other length", () => {
    for (const length of ["7", "", "P", "P0D", "PT1D", "P1H", "p1d", "P3D", "toString"]) {
      expect(isLength(length)).toBe(false);
    }
  });

  it("is the first one at the first instant, and the last one ends at the last", () => {
    for (const length of ALL_LENGTHS) {
      expect(stretchAt(FIRST_INSTANT, length).from).toBe(FIRST_INSTANT);
      expect(stretchAt(LAST_INSTANT, length).to).toBe(LAST_INSTANT);
    }
    expect(stretchAt(FIRST_INSTANT, "P1Y").to).toBe(midnight("0002-01-01"));
    expect(stretchAt(LAST_INSTANT, "P4D").from).toBe(midnight("9999-12-29"));
  });
});

it("the stretches of instants are those that overlap their hours, once and in order", () => {
  const instants = ["2026-03-05 10:20:00.000", "2026-02-27 00:00:00.000"];
  const ends = (length: Length) =>
    stretchesOf([...instants, "2026-03-05 10:59:59.999"], length).map(({ to }) => to.slice(5, 16));
  expect(ends("P1D")).toEqual(["02-28 00:00", "03-06 00:00"]);
  expect(ends("P1M")).toEqual(["03-01 00:00", "04-01 00:00"]);
  expect(ends("PT30M")).toEqual(["02-27 00:30", "02-27 01:00", "03-05 10:30", "03-05 11:00"]);
  for (const length of ["PT15M", "P1Y"] as const) {
    expect(stretchesOf([LAST_INSTANT], length).at(-1)?.to).toBe(LAST_INSTANT);
  }
});

describe("the length of leaves", () => {
  const days = (count: number, rows: number, every = 1) =>
    new Map(
      Array.from({ length: count }, (_, n) => {
        return [toDatetime(Date.UTC(2025, 0, 1 + n * every)).slice(0, 10), rows] as const;
      }),
    );
  it.each([
    ["no rows", days(0, 0), "P1Y"],
    ["250 rows a day", days(365, 250), "P1D"],
    ["251 rows a day", days(365, 251), "PT12H"],
    ["more rows than any length holds", days(365, 1_000_000), "PT5M"],
    ["240 rows on one day of each week: empty leaves do not count", days(52, 240, 7), "P4D"],
  ] as const)("for %s", (_, rows, length) => {
    expect(chooseLeaf(rows, 250)).toBe(length);
  });
});
