/**
 * The API key: `rvk_`, 256 random bits as 43 base62 digits, and the CRC-32 of all
 * that as 6 more, 53 characters of ASCII.
 *
 * The prefix lets people and secret scanners recognise a key, with the regular expression
 * `rvk_[0-9A-Za-z]{49}`; the checksum tells a key from what only looks like one, and a
 * mistyped key from an unknown one, without asking the database.
 * After https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats/
 */
import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { encodeBase62 } from "./base62.ts";

const PREFIX = "rvk_";
/** The bytes of randomness, and the base62 digits that hold them: 62^43 > 2^256. */
const SECRET_BYTES = 32;
const SECRET_DIGITS = 43;
const CHECKSUM_DIGITS = 6;
const KEY_LENGTH = PREFIX.length + SECRET_DIGITS + CHECKSUM_DIGITS;
const HINT_LENGTH = PREFIX.length + 4;
const SHAPE = /^rvk_[0-9A-Za-z]{49}$/;

declare const apiKey: unique symbol;

/** A text with the shape and the checksum of a key. Whether it was ever issued is another question. */
export type ApiKey = string & { readonly [apiKey]: true };

/** A new key, from the operating system's randomness. */
export function generateKey(): ApiKey {
  const secret = BigInt(`0x${randomBytes(SECRET_BYTES).toString("hex")}`);
  const body = PREFIX + encodeBase62(secret, SECRET_DIGITS);
  return (body + checksum(body)) as ApiKey;
}

/**
 * The text as a key, or undefined where it is none. Every change of one character and
 * every exchange of two neighbours within the secret is noticed; any other damage
 * passes with a chance of 2^-32.
 */
export function parseKey(text: string): ApiKey | undefined {
  if (text.length !== KEY_LENGTH || !SHAPE.test(text)) return undefined;
  const body = text.slice(0, -CHECKSUM_DIGITS);
  return text.endsWith(checksum(body)) ? (text as ApiKey) : undefined;
}

/**
 * What is stored in place of the key: the SHA-256 of its ASCII text, 32 bytes. A plain hash
 * is enough, since there is no guessing 256 random bits, however fast each guess is.
 */
export function hashKey(key: ApiKey): Buffer {
  return hash("sha256", key, "buffer");
}

/** The key's first characters (`rvk_AbCd`), by which people tell their keys apart. */
export function hintOf(key: ApiKey): string {
  return key.slice(0, HINT_LENGTH);
}

/**
 * The text with all that looks like a key, or like a damaged one, cut to its first
 * characters, for what is written where others may read it: `rvk_AbCd…`.
 */
export function redactKeys(text: string): string {
  return text.replace(/(rvk_\w{0,4})\S*?(?=["']?(?:\s|$))|(\w{4})\w{36,}/gi, "$1$2…");
}

function checksum(body: string): string {
  return encodeBase62(BigInt(crc32(body)), CHECKSUM_DIGITS);
}
