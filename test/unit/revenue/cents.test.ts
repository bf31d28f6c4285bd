/** Amounts in cents: their text, the split into fee and earnings, and rounding. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatCents, parseCents } from "../../../src/db/cents.ts";
import { divide, split } from "../../../src/revenue/fee.ts";

const huge = fc.bigInt({ min: -(10n ** 36n), max: 10n ** 36n });

describe("an amount", () => {
  it.each([
    ["0.00", 0n],
    ["0.01", 1n],
    ["-123.40", -12_340n],
    ["90071992547409.93", 9_007_199_254_740_993n], // 2^53 + 1 cents
    ["9999999999999999999999999999999999.99", 999_999_999_999_999_999_999_999_999_999_999_999n],
  ])("%s is parsed and formatted without loss", (text, cents) => {
    expect(parseCents(text)).toBe(cents);
    expect(formatCents(cents)).toBe(text);
  });

  it("of any size is exact, also where its text gets longer", () => {
    const edges = fc.integer({ min: 1, max: 36 }).map((digits) => 10n ** BigInt(digits));
    const near = fc.tuple(edges, fc.bigInt({ min: -100n, max: 100n }));
    const cents = fc.oneof(
      huge,
      near.map(([edge, more]) => edge + more),
    );
    fc.assert(fc.property(cents, (cents) => parseCents(formatCents(cents)) === cents));
    expect(formatCents(parseCents("-0.00"))).toBe("0.00");
  });

  it.each([
    ...["", "1", "1.0", "1.000", ".50", "--1.00", "+1.00", "1,00", "1.-5", "1:.00", "1.00\n"],
    ...["12345678901:.00", "1234567890123456,00"],
  ])("is not parsed from %j", (text) => {
    expect(() => parseCents(text)).toThrow(
      new Error(`expected an amount with two digits: ${JSON.stringify(text)}`),
    );
  });
});

describe("the split", () => {
  it.each([
    // gross, fee, earnings
    ["0.04", "0.00", "0.04"],
    ["0.05", "0.01", "0.04"],
    ["-0.04", "0.00", "-0.04"],
    ["-0.05", "-0.01", "-0.04"],
    ["90071992547409.95", "9007199254741.00", "81064793292668.95"],
  ])("of a gross of %s is a fee of %s and earnings of %s", (gross, fee, earnings) => {
    const parts = split({ gross: parseCents(gross) });
    expect([parts.fee, parts.earnings].map(formatCents)).toEqual([fee, earnings]);
    expect(parts.gross).toBe(parts.fee + parts.earnings);
  });
});

it("a quotient is within half a divisor of the exact one, and at exactly half it rounds away from zero", () => {
  const divisors = fc.oneof(
    fc.bigInt({ min: 1n, max: 12n }),
    fc.bigInt({ min: 1n, max: 10n ** 12n }),
  );
  const dividends = fc.oneof(fc.bigInt({ min: -30n, max: 30n }), huge);
  fc.assert(
    fc.property(dividends, divisors, (dividend, divisor) => {
      const excess = 2n * (divide(dividend, divisor) * divisor - dividend);
      const outwards = dividend < 0n ? -excess : excess;
      expect(-divisor < outwards && outwards <= divisor).toBe(true);
    }),
  );
});
