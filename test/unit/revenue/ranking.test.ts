/** The order of servers and instances. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { byRank, type Ranked } from "../../../src/revenue/ranking.ts";

const row = (gross: bigint, name = "", id = "1"): Ranked => ({ gross, name, id });

it("the largest gross is first, also beyond 2^53 cents, then the name, then the id as a number", () => {
  const rows = [
    row(2n ** 53n + 1n),
    row(2n, "c", "3"),
    row(1n, "a", "9"),
    row(1n, "a", "10"),
    row(1n, "a", "18446744073709551615"),
    row(1n, "b", "1"),
    row(-(2n ** 53n) - 1n),
  ];
  expect(rows.toReversed().sort(byRank)).toEqual(rows);
});

it("names are in the order of their code points, and not of their UTF-16 code units", () => {
  // "～" (U+FF5E) is before "😀" (U+1F600), whose first UTF-16 code unit is U+D83D.
  const rows = ["", " ", "A", "a", "a ", "ab", "～", "😀", "😀a"].map((name) => row(0n, name));
  expect(rows.toReversed().sort(byRank)).toEqual(rows);
  // fast-check's own unit "binary" takes seconds to make.
  const characters = fc.integer({ min: 0, max: 0x10_ffff }).map((code) => {
    return code >= 0xd800 && code <= 0xdfff ? "\uffff" : String.fromCodePoint(code);
  });
  const unit = fc.oneof(fc.constantFrom("a", "\ue000", "\uffff", "😀"), characters);
  const name = fc.string({ unit, maxLength: 6 });
  fc.assert(
    fc.property(name, name, (a, b) => {
      const expected = Buffer.compare(Buffer.from(a), Buffer.from(b));
      expect(Math.sign(byRank(row(0n, a), row(0n, b)))).toBe(expected);
      expect(Math.sign(byRank(row(0n, b), row(0n, a))) + expected).toBe(0);
    }),
  );
});
