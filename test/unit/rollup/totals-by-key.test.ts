import fc from "fast-check";
import { expect, it } from "vitest";
import {
  chargesOf,
  grossOf,
  minus,
  plus,
  type Totals,
  toTotalsByKey,
} from "../../../src/rollup/write/totals-by-key.ts";

const totals = (gross: bigint, charges = 1, started = 0, ended = 0): Totals => ({
  gross,
  charges,
  started,
  ended,
});

const count = fc.integer({ min: -3, max: 3 });
const anyTotalsByKey = fc
  .dictionary(
    fc.constantFrom("1/0", "1/7", "2/0", "3/9"),
    fc
      .record({ gross: fc.bigInt(-9n, 9n), charges: count, started: count, ended: count })
      .filter((entry) => Object.values(entry).some((value) => Number(value) !== 0)),
  )
  .map((entries) => new Map(Object.entries(entries)));

it("a sum has the keys of both sides, and adds up the keys that both have", () => {
  const left = new Map([
    ["1/0", totals(5n, 1, 2, 3)],
    ["1/7", totals(1n)],
  ]);
  const right = new Map([
    ["1/0", totals(-2n, 1, 1, 1)],
    ["2/0", totals(9n)],
  ]);
  expect(plus(left, right)).toEqual(
    new Map([
      ["1/0", totals(3n, 2, 3, 4)],
      ["1/7", totals(1n)],
      ["2/0", totals(9n)],
    ]),
  );
});

it("a difference omits zero totals, but not a gross of zero with charges", () => {
  const left = new Map([
    ["1/0", totals(5n, 2)],
    ["2/0", totals(5n, 2)],
  ]);
  const right = new Map([
    ["1/0", totals(5n, 2)],
    ["2/0", totals(5n, 1)],
  ]);
  expect(minus(left, right)).toEqual(new Map([["2/0", totals(0n, 1)]]));
});

it("the totals of rows have zero for missing columns", () => {
  const rows = [
    { server_id: "1", instance_id: "0", gross: "-1.05", charges: "2" },
    { server_id: "1", instance_id: "7", started: 3 },
    { server_id: "2", instance_id: "0", ended: "4" },
  ];
  expect(toTotalsByKey(rows)).toEqual(
    new Map([
      ["1/0", totals(-105n, 2)],
      ["1/7", totals(0n, 0, 3)],
      ["2/0", totals(0n, 0, 0, 4)],
    ]),
  );
});

it("subtraction undoes addition, neither changes its arguments, and the sums over keys agree", () => {
  fc.assert(
    fc.property(anyTotalsByKey, anyTotalsByKey, (one, other) => {
      const [before, after] = [new Map(one), minus(plus(one, other), other)];
      expect(after).toEqual(before);
      expect(one).toEqual(before);
      expect(minus(one, one)).toEqual(new Map());
      expect(grossOf(plus(one, other))).toBe(grossOf(one) + grossOf(other));
      expect(chargesOf(plus(one, other))).toBe(chargesOf(one) + chargesOf(other));
    }),
  );
});
