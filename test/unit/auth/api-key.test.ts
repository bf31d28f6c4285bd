import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { generateKey, hashKey, hintOf, parseKey, redactKeys } from "../../../src/auth/api-key.ts";
import { anyText } from "../../support/any-text.ts";

const DIGITS = [..."0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"];
/** The expression documented for secret scanners. */
const SCANNER = /rvk_[0-9A-Za-z]{49}/g;

const keys = fc.constant(undefined).map(() => generateKey());

describe("an API key", () => {
  it("is parsed to itself, and matched completely by the scanners' expression in any text", () => {
    fc.assert(
      fc.property(keys, (key) => {
        expect(parseKey(key)).toBe(key);
        expect(`{"key":"${key}"} curl -H 'x-api-key: ${key}'`.match(SCANNER)).toEqual([key, key]);
      }),
    );
  });

  it("has every digit at every place of its secret where it is possible", () => {
    const seen = Array.from({ length: 43 }, () => new Set<string>());
    for (let count = 0; count < 2_000; count++) {
      [...generateKey().slice(4, 47)].forEach((digit, place) => {
        seen[place]?.add(digit);
      });
    }
    // 2^256 is just below 62^43, so almost every digit is possible at the first place too.
    seen.forEach((digits, place) => {
      expect(digits.size, `place ${place}`).toBeGreaterThan(place === 0 ? 55 : 61);
    });
  });

  it("has a checksum that other programs can compute", () => {
    // Computed with Python: zlib.crc32(b"rvk_" + b"0" * 42 + b"1"), written in base62.
    expect(parseKey(`rvk_${"0".repeat(42)}10KzG5F`)).toBeDefined();
  });
});

describe("a mistyped key is rejected", () => {
  it("with any one character changed", () => {
    const key = generateKey();
    for (let place = 0; place < key.length; place++) {
      for (const digit of [...DIGITS, "_", "-", " ", "é", "\0"]) {
        if (digit === key[place]) continue;
        const mistyped = key.slice(0, place) + digit + key.slice(place + 1);
        expect(parseKey(mistyped), mistyped).toBeUndefined();
      }
    }
  });

  it("and so is any other text", () => {
    fc.assert(fc.property(anyText, (text) => parseKey(text) === undefined));
    const key = generateKey();
    for (const text of [` ${key}`, `${key}\n`, key + key, "\ud800".repeat(53), ""]) {
      expect(parseKey(text)).toBeUndefined();
    }
  });
});

it("what is stored of a key is the SHA-256 of its text, and its first eight characters", () => {
  const key = generateKey();
  expect(hashKey(key)).toEqual(createHash("sha256").update(key, "ascii").digest());
  expect(hintOf(key)).toBe(key.slice(0, 8));
});

describe("redacting", () => {
  const key = generateKey();
  const hint = hintOf(key);
  it.each([
    ["a key in a text", `option '${key}' is unknown`, `option '${hint}…' is unknown`],
    ["two keys", `${key} ${key}`, `${hint}… ${hint}…`],
    ["a key without its end", key.slice(0, 20), `${hint}…`],
    ["a key with an invalid character", `rvk_Ab-${key.slice(6)}`, "rvk_Ab…"],
    ["a key in another case", key.toUpperCase(), `${hint.toUpperCase()}…`],
    ["a key without its prefix", key.slice(4), `${key.slice(4, 8)}…`],
    ["a UUID", "0b3571ad-8da2-4a42-bf24-806dd7ff7ab2", "0b3571ad-8da2-4a42-bf24-806dd7ff7ab2"],
  ])("cuts %s to its hint", (_, text, redacted) => {
    expect(redactKeys(text)).toBe(redacted);
  });
});
