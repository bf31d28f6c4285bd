import fc from "fast-check";
import { expect, it } from "vitest";
import { grossOf, minus, plus, type Totals } from "../../../src/rollup/write/totals-by-key.ts";

const figures = (gross: bigint, charges = 1, started = 0, ended = 0): Totals => ({
  gross,
  charges,
  started,
  ended,
});

const count = fc.integer({ min: -3, max: 3 });
const anyVector = fc
  .dictionary(
    fc.constantFrom("1/0", "1/7", "2/0", "3/9"),
    fc
      .record({ gross: fc.bigInt(-9n, 9n), charges: count, started: count, ended: count })
      .filter((entry) => Object.values(entry).some((value) => Number(value) !== 0)),
  )
  .map((entries) => new Map(Object.entries(entries)));

it("a sum has what either has, added up where both have it", () => {
  const left = new Map([
    ["1/0", figures(5n, 1, 2, 3)],
    ["1/7", figures(1n)],
  ]);
  const right = new Map([
    ["1/0", figures(-2n, 1, 1, 1)],
    ["2/0", figures(9n)],
  ]);
  expect(plus(left, right)).toEqual(
    new Map([
      ["1/0", figures(3n, 2, 3, 4)],
      ["1/7", figures(1n)],
      ["2/0", figures(9n)],
    ]),
  );
});

it("a difference leaves out what is nothing, but not a gross of zero made of charges", () => {
  const left = new Map([
    ["1/0", figures(5n, 2)],
    ["2/0", figures(5n, 2)],
  ]);
  const right = new Map([
    ["1/0", figures(5n, 2)],
    ["2/0", figures(5n, 1)],
  ]);
  expect(minus(left, right)).toEqual(new Map([["2/0", figures(0n, 1)]]));
});

it("what is added and taken off again leaves what was there, and the sums agree", () => {
  fc.assert(
    fc.property(anyVector, anyVector, (one, other) => {
      const [before, after] = [new Map(one), minus(plus(one, other), other)];
      expect(after).toEqual(before);
      expect(one).toEqual(before);
      expect(minus(one, one)).toEqual(new Map());
      expect(grossOf(plus(one, other))).toBe(grossOf(one) + grossOf(other));
    }),
  );
});
