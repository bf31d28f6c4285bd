/** Amounts in cents: their text, the split into fee and earnings, and rounding. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatCents, parseCents } from "../../../src/db/cents.ts";
import { divide, split } from "../../../src/revenue/fee.ts";

/** Some texts are an amount with digits before them. */
const isMalformed = (text: string) => !/^-?\d+\.\d{2}$/.test(text);

describe("an amount", () => {
  it.each([
    ["0.00", 0n],
    ["0.01", 1n],
    ["-0.01", -1n],
    ["-0.05", -5n],
    ["0.99", 99n],
    ["1.00", 100n],
    ["4500.00", 450_000n],
    ["-123.40", -12_340n],
    ["90071992547409.93", 9_007_199_254_740_993n], // 2^53 + 1 cents
    ["9999999999999999999999999999999999.99", 999_999_999_999_999_999_999_999_999_999_999_999n],
  ])("%s is parsed and formatted without loss", (text, cents) => {
    expect(parseCents(text)).toBe(cents);
    expect(formatCents(cents)).toBe(text);
  });

  it("is exact around 2^53 cents, where numbers end to be", () => {
    for (let cents = 2n ** 53n - 100n; cents < 2n ** 53n + 100n; cents++) {
      expect(parseCents(formatCents(cents))).toBe(cents);
      expect(parseCents(formatCents(-cents))).toBe(-cents);
    }
  });

  it("is exact where its text gets longer", () => {
    for (let digits = 1n; digits < 40n; digits++) {
      for (const cents of [10n ** digits - 1n, 10n ** digits, 10n ** digits + 1n]) {
        expect(parseCents(formatCents(cents))).toBe(cents);
        expect(parseCents(formatCents(-cents))).toBe(-cents);
      }
    }
  });

  it("has no negative zero", () => {
    expect(formatCents(parseCents("-0.00"))).toBe("0.00");
  });

  const malformed = [
    ...["", "-", ".", "1", "-1", "1.0", "1.000", ".50", "-.50", "--1.00", "+1.00", "1,00", "1.-5"],
    ...["1e2.00", "0x1.00", "1:.00", "1/.00", "1.0:", " 1.00", "1 .00", "1.00\n", "1.00\0", "١.٠٠"],
  ];
  it.each([...malformed, ...malformed.map((text) => `1234567890${text}`)].filter(isMalformed))(
    "is not parsed from %j",
    (text) => {
      expect(() => parseCents(text)).toThrow(
        new Error(`expected an amount with two digits: ${JSON.stringify(text)}`),
      );
    },
  );
});

describe("the split", () => {
  it.each([
    // gross, fee, earnings
    ["0.00", "0.00", "0.00"],
    ["0.01", "0.00", "0.01"],
    ["0.04", "0.00", "0.04"],
    ["0.05", "0.01", "0.04"],
    ["0.06", "0.01", "0.05"],
    ["0.14", "0.01", "0.13"],
    ["0.15", "0.02", "0.13"],
    ["0.25", "0.03", "0.22"],
    ["-0.01", "0.00", "-0.01"],
    ["-0.04", "0.00", "-0.04"],
    ["-0.05", "-0.01", "-0.04"],
    ["-0.15", "-0.02", "-0.13"],
    ["5000.00", "500.00", "4500.00"],
    ["90071992547409.95", "9007199254741.00", "81064793292668.95"],
    ["-90071992547409.95", "-9007199254741.00", "-81064793292668.95"],
  ])("of a gross of %s is a fee of %s and earnings of %s", (gross, fee, earnings) => {
    const parts = split(parseCents(gross));
    expect([parts.fee, parts.earnings].map(formatCents)).toEqual([fee, earnings]);
    expect(parts.gross).toBe(parts.fee + parts.earnings);
  });
});

describe("a division", () => {
  it.each([
    // dividend, divisor, quotient
    [0n, 7n, 0n],
    [1n, 2n, 1n],
    [-1n, 2n, -1n],
    [1n, 3n, 0n],
    [2n, 3n, 1n],
    [-2n, 3n, -1n],
    [3n, 2n, 2n],
    [5n, 1n, 5n],
    [10n ** 30n + 5n, 10n, 10n ** 29n + 1n],
  ])("of %d by %d is %d", (dividend, divisor, quotient) => {
    expect(divide(dividend, divisor)).toBe(quotient);
  });

  it("is within half a divisor of the exact quotient, and at exactly half it rounds away from zero", () => {
    const huge = { min: -(10n ** 30n), max: 10n ** 30n };
    fc.assert(
      fc.property(fc.bigInt(huge), fc.bigInt({ min: 1n, max: 10n ** 12n }), (dividend, divisor) => {
        const excess = 2n * (divide(dividend, divisor) * divisor - dividend);
        const outwards = dividend < 0n ? -excess : excess;
        expect(-divisor < outwards && outwards <= divisor).toBe(true);
      }),
    );
  });
});
