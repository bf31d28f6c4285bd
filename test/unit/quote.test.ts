import { expect, test } from "vitest";
import { quote } from "../../src/quote.ts";

test.each([
  ["", '""'],
  ["é 日本 🙂", '"é 日本 🙂"'],
  ['say "no"', '"say \\"no\\""'],
  ["a\nb\u0000", '"a\\u{a}b\\u{0}"'],
  ["\u202eabc\u200b", '"\\u{202e}abc\\u{200b}"'],
  ["a\u00a0b\u2028", '"a\\u{a0}b\\u{2028}"'],
  ["\ud800", '"\\u{d800}"'],
  ["x".repeat(48), `"${"x".repeat(48)}"`],
  ["🙂".repeat(49), `"${"🙂".repeat(48)}…"`],
  [`rvk_AbCd${"e".repeat(45)}`, '"rvk_AbCd…"'],
  [`key=rvs_AbCd${"e".repeat(45)}&x`, '"key=rvs_AbCd…"'],
  ["rvs_", '"rvs_"'],
])("%j is quoted as %s", (text, expected) => {
  expect(quote(text)).toBe(expected);
});
