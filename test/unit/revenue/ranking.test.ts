/** The order of servers and instances. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byRank, type Ranked } from "../../../src/revenue/ranking.ts";

const row = (gross: bigint, name = "", id = "1"): Ranked => ({ gross, name, id });
const inverted = (order: number) => (order === 0 ? 0 : -order);

describe("rows are sorted by", () => {
  it("gross, the largest first, also beyond 2^53 cents", () => {
    const amounts = [2n ** 53n + 1n, 2n ** 53n, 5n, 0n, -1n, -(2n ** 53n), -(2n ** 53n) - 1n];
    const rows = amounts.toReversed().map((gross) => row(gross));
    expect(rows.sort(byRank).map(({ gross }) => gross)).toEqual(amounts);
  });

  it("name if the gross is equal, by code point", () => {
    // "～" (U+FF5E) is before "😀" (U+1F600), whose first UTF-16 code unit is U+D83D.
    const names = ["", " ", "A", "Z", "a", "a ", "ab", "a\u0301", "z", "ä", "א", "～", "😀", "😀a"];
    const rows = names.toReversed().map((name) => row(0n, name));
    expect(rows.sort(byRank).map(({ name }) => name)).toEqual(names);
  });

  it("id if gross and name are equal, as an integer of up to 20 digits", () => {
    const ids = ["1", "2", "9", "10", "99", "100", "9007199254740993", "18446744073709551615"];
    const rows = ids.toReversed().map((id) => row(0n, "", id));
    expect(rows.sort(byRank).map(({ id }) => id)).toEqual(ids);
  });

  it("gross before name, and name before id", () => {
    const rows = [row(1n, "b", "1"), row(1n, "a", "2"), row(2n, "c", "3"), row(1n, "a", "1")];
    expect(rows.sort(byRank).map(({ name, id }) => name + id)).toEqual(["c3", "a1", "a2", "b1"]);
  });
});

it("names are in the order of their UTF-8 bytes, which is the order of their code points", () => {
  const name = fc.string({ unit: "binary", maxLength: 6 });
  fc.assert(
    fc.property(name, name, (a, b) => {
      const expected = Buffer.compare(Buffer.from(a), Buffer.from(b));
      expect(Math.sign(byRank(row(0n, a), row(0n, b)))).toBe(expected);
      expect(Math.sign(byRank(row(0n, b), row(0n, a)))).toBe(inverted(expected));
    }),
  );
});
