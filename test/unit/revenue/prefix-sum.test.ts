/** For which instants a prefix sum is the base, and when what it was made from is read again. */
import { describe, expect, it } from "vitest";
import { isAround, lastEdge, nearestEdge } from "../../../src/revenue/breakdown/edge.ts";
import {
  type ChargesRow,
  isBaseFor,
  isBeforeCheckpoint,
  isUnchanged,
  isWorthCaching,
  laterPrefixSum,
  mustVerify,
  type Place,
  type PrefixSum,
  prefixSum,
} from "../../../src/revenue/breakdown/prefix-sum.ts";

const START = "0001-01-01 00:00:00.000";
const END = "9999-12-31 23:59:59.999";
const day = (month: string, day: string) => `2026-${month}-${day} 00:00:00.000`;
const [MARCH, APRIL] = [day("03", "01"), day("04", "01")];
const AT = day("03", "10");
const BEFORE: Place = { at: AT, checkpoint: APRIL };
const AFTER: Place = { at: AT, checkpoint: MARCH };

const charges = (gross: string, charges: number, instance = "1"): ChargesRow[] => [
  { server: "1", instance, gross, charges: String(charges) },
];
const totals = [{ ...charges("100.00", 10)[0], started: "4", ended: "3" }] as const;
const none = (place: Place, verifiedAt = 0): PrefixSum =>
  prefixSum(place, APRIL, [], [], verifiedAt);

describe("a prefix sum", () => {
  const rows = totals as unknown as Parameters<typeof prefixSum>[2];

  it("before its checkpoint lacks the charges between, and has the rentals of the checkpoint", () => {
    const sum = prefixSum(BEFORE, APRIL, rows, charges("30.00", 2), 0);
    const expected = { gross: 70_00n, charges: 8, started: 4, ended: 3, running: 0 };
    expect(sum.byOwner.instance("1", "1")).toEqual(expected);
    expect(sum.between).toEqual({ charges: 2, gross: 30_00n });
  });

  it("after its checkpoint has the charges between too", () => {
    const sum = prefixSum(AFTER, APRIL, rows, charges("30.00", 2, "7"), 0);
    expect(sum.byOwner.total()).toMatchObject({ gross: 130_00n, charges: 12 });
    expect(sum.byOwner.instance("1", "7")).toMatchObject({ gross: 30_00n, charges: 2 });
  });

  it.each([
    ["before", BEFORE, { charges: 4, gross: 15_00n }],
    ["after", AFTER, { charges: 6, gross: 25_00n }],
  ])(
    "that is %s its checkpoint gives a later one, which is as far from it",
    (_, place, between) => {
      const base = prefixSum(place, APRIL, rows, charges("20.00", 5), 7);
      const gross = base.byOwner.total().gross;
      const later = laterPrefixSum(day("03", "20"), base, charges("5.00", 1));
      expect(later).toMatchObject({ ...place, at: day("03", "20"), between, verifiedAt: 7 });
      expect(later.byOwner.total().gross).toBe(gross + 5_00n);
      expect(base.byOwner.total().gross).toBe(gross);
    },
  );

  it("is never before the start of the timeline, from which it is made of charges alone", () => {
    const first = "0000-12-31 23:59:59.999";
    const base = prefixSum({ at: first, checkpoint: START }, APRIL, [], [], 0);
    const later = laterPrefixSum(AT, base, charges("5.00", 1));
    expect(later.between).toEqual({ charges: 1, gross: 5_00n });
    expect(isBeforeCheckpoint({ at: first, checkpoint: START })).toBe(false);
  });

  it.each([
    ["at its instant", AT, true],
    ["at the last instant before the next checkpoint", "2026-03-31 23:59:59.999", true],
    ["not at that checkpoint", APRIL, false],
    ["not at an earlier instant", "2026-03-09 23:59:59.999", false],
  ])("is the base for that %s", (_, instant, expected) => {
    for (const place of [BEFORE, AFTER]) expect(isBaseFor(none(place), instant)).toBe(expected);
  });

  it("is the base for that at the last instant of all, in the last segment", () => {
    expect(isBaseFor(prefixSum(lastEdge(AT), END, [], [], 0), END)).toBe(true);
  });

  it("at a later instant is worth caching from 250 charges on", () => {
    expect(isWorthCaching([...charges("0.00", 100), ...charges("0.00", 149)])).toBe(false);
    expect(isWorthCaching([...charges("0.00", 100), ...charges("0.00", 150)])).toBe(true);
  });
});

describe("the charges between a prefix sum and its checkpoint", () => {
  it.each([
    ["are read for every answer if they are fewer than 3,000", 1_999, 0, true],
    ["are not read within a second if they are more", 2_000, 999, false],
    ["are read again after a second", 2_000, 1_000, true],
  ])("%s", (_, atStart, ms, expected) => {
    const start = prefixSum(BEFORE, APRIL, [], charges("1.00", atStart), 10_000);
    const end = prefixSum(AFTER, APRIL, [], charges("1.00", 1_000), 10_000 + ms);
    expect(mustVerify([start, end], 10_000 + ms)).toBe(expected);
  });

  it.each([
    ["the same", "3 -0.95", true],
    ["another number", "2 -0.95", false],
    ["another gross", "3 -0.96", false],
    ["none", "", false],
  ])("are unchanged only if they are: %s", (_, found, expected) => {
    const sum = prefixSum(BEFORE, APRIL, [], [...charges("0.05", 1), ...charges("-1.00", 2)], 0);
    expect(isUnchanged(sum, found)).toBe(expected);
  });

  it("are unchanged without a rollup", () => {
    expect(isUnchanged(none(lastEdge(AT)), "")).toBe(true);
    expect(isUnchanged(none(BEFORE), "0 0.00")).toBe(true);
  });
});

it.each([
  ["the one before", MARCH, MARCH, true],
  ["the one after", APRIL, MARCH, true],
  ["no other", START, MARCH, false],
  ["not the last one, if there is another after it", END, MARCH, false],
  ["the start of the timeline, if there is none before", START, "", true],
])("around an edge lies %s", (_, checkpoint, before, expected) => {
  const found = { charges: [], totals: [], verified: "", before, after: APRIL };
  expect(isAround(checkpoint, found)).toBe(expected);
});

describe("the checkpoint nearest to an edge", () => {
  const NOW = day("11", "20");
  it.each([
    ["is the one before", day("03", "15"), MARCH, APRIL, MARCH],
    ["is the one after", day("03", "20"), MARCH, APRIL, APRIL],
    ["is the start of the timeline if there is none before", day("01", "02"), "", MARCH, START],
    ["is the first one if they meet", "2026-02-28 23:59:59.999", "", MARCH, MARCH],
    ["is the last one if there is no other", day("01", "02"), "", END, END],
    ["is the last one for an edge near now", day("11", "15"), day("11", "01"), END, END],
    ["is the last one for now", NOW, day("11", "19"), END, END],
    ["is the last one for an edge after now", day("12", "15"), day("11", "19"), END, END],
    [
      "is the one before for an edge far from now",
      day("11", "05"),
      day("11", "01"),
      END,
      day("11", "01"),
    ],
    ["is the last one for the last instant of all", END, END, END, END],
  ])("%s", (_, at, before, after, checkpoint) => {
    expect(nearestEdge(at, before, after, NOW)).toEqual({ at, checkpoint });
  });
});
