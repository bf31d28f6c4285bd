import { describe, expect, it } from "vitest";
import {
  boundariesIn,
  chooseLeaf,
  FIRST_INSTANT,
  LAST_INSTANT,
  LEAVES,
  leafAt,
  leavesOf,
} from "../../../src/rollup/leaves.ts";

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
/** The place of a length. */
const place = (length: (typeof LEAVES)[number]) => LEAVES.indexOf(length);
const DAILY = place(DAY);
const midnight = (day: string) => `${day} 00:00:00.000`;

describe("the leaf of an instant", () => {
  it.each([
    [5 * MINUTE, "2026-11-20 09:30:00.000", "2026-11-20 09:35:00.000"],
    [HOUR, "2026-11-20 09:00:00.000", "2026-11-20 10:00:00.000"],
    [6 * HOUR, "2026-11-20 06:00:00.000", "2026-11-20 12:00:00.000"],
    [DAY, midnight("2026-11-20"), midnight("2026-11-21")],
    [4 * DAY, midnight("2026-11-17"), midnight("2026-11-21")],
    [16 * DAY, midnight("2026-11-17"), midnight("2026-12-01")],
    ["month", midnight("2026-11-01"), midnight("2026-12-01")],
    ["year", midnight("2026-01-01"), midnight("2027-01-01")],
  ] as const)("of length %s begins at %s and ends before %s", (length, from, to) => {
    for (const instant of [from, "2026-11-20 09:34:59.999"]) {
      expect(leafAt(instant, place(length))).toEqual({ from, to });
    }
    expect(leafAt(to, place(length)).from).toBe(to);
  });

  it("is the first one at the first instant, and the last one ends at the last", () => {
    for (const length of LEAVES.keys()) {
      expect(leafAt(FIRST_INSTANT, length).from).toBe(FIRST_INSTANT);
      expect(leafAt(LAST_INSTANT, length).to).toBe(LAST_INSTANT);
    }
    expect(leafAt(FIRST_INSTANT, place("year")).to).toBe(midnight("0002-01-01"));
    expect(leafAt(LAST_INSTANT, place(4 * DAY)).from).toBe(midnight("9999-12-29"));
  });

  it("follows the one before, and lies within one leaf of the next length", () => {
    for (const [shorter, longer] of [...LEAVES.keys()].slice(1).map((n) => [n - 1, n] as const)) {
      // February, a leap year, and the turn of a year.
      for (const first of ["2023-12-27", "2024-02-24", "2025-02-24"].map(midnight)) {
        for (let leaf = leafAt(first, shorter), nth = 0; nth < 100; nth++) {
          const next = leafAt(leaf.to, shorter);
          expect(next.from).toBe(leaf.to);
          const { from, to } = leafAt(next.from, longer);
          expect(next.from >= from && next.to <= to).toBe(true);
          leaf = next;
        }
      }
    }
  });
});

it("the leaves of spans are those that overlap any of them, once and in order", () => {
  const span = (from: string, to: string) => ({ from: midnight(from), to: midnight(to) });
  const spans = [span("2026-03-05", "2026-03-07"), span("2026-02-27", "2026-02-27")];
  const ends = (found: ReturnType<typeof leavesOf>) => found.map(({ to }) => to.slice(0, 10));
  expect(ends(leavesOf([...spans, span("2026-03-06", "2026-03-06")], DAILY))).toEqual([
    "2026-02-28",
    "2026-03-06",
    "2026-03-07",
    "2026-03-08",
  ]);
  expect(ends(leavesOf(spans, place("month")))).toEqual(["2026-03-01", "2026-04-01"]);
  expect(
    leavesOf([{ from: LAST_INSTANT, to: LAST_INSTANT }], place("year")).map(({ to }) => to),
  ).toEqual([LAST_INSTANT]);
});

it.each([
  ["2026-11-05 10:00:00.000", "2026-11-08 10:00:00.000", "2026-11-06", "2026-11-08"],
  ["2026-11-05 00:00:00.000", "2026-11-08 00:00:00.000", "2026-11-05", "2026-11-08"],
  ["2026-11-05 00:00:00.001", "2026-11-05 23:59:59.999", "2026-11-06", "2026-11-05"],
])("the boundaries in %s to %s are from %s to %s", (from, to, first, last) => {
  expect(boundariesIn(from, to, DAILY)).toEqual([midnight(first), midnight(last)]);
});

describe("the length of leaves", () => {
  const days = (count: number, rows: number, every = 1) =>
    new Map(
      Array.from({ length: count }, (_, n) => {
        const day = new Date(Date.UTC(2025, 0, 1 + n * every)).toISOString().slice(0, 10);
        return [day, rows] as const;
      }),
    );
  it.each([
    ["no rows", days(0, 0), "year"],
    ["a row a day", days(365, 1), "quarter"],
    ["250 rows a day", days(365, 250), DAY],
    ["251 rows a day", days(365, 251), 12 * HOUR],
    ["more rows than any length holds", days(365, 1_000_000), 5 * MINUTE],
    ["240 rows on one day of each week: empty leaves do not count", days(52, 240, 7), 4 * DAY],
  ] as const)("for %s", (_, rows, length) => {
    expect(LEAVES[chooseLeaf(rows, 250)]).toBe(length);
  });
});
