/**
 * The API key: `rvk_`, or `rvs_` for a service key, 256 random bits as 43 base62 digits, and the CRC-32
 * of these 47 characters as 6 digits; 53 ASCII characters in total.
 *
 * The prefix tells the kind, and lets people and secret scanners recognise a key, by the regular
 * expression `rv[ks]_[0-9A-Za-z]{49}`. The checksum detects a mistyped key without a query.
 *
 * @see https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats/
 */
import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import type { CallerKey } from "../handler.ts";

type Kind = CallerKey["kind"];

const PREFIXES = { provider: "rvk_", service: "rvs_" } as const satisfies Record<Kind, string>;
const KINDS = Object.entries(PREFIXES) as [Kind, string][];
/** The random bytes, and the base62 digits that encode them: 62^43 > 2^256. */
const SECRET_BYTES = 32;
const SECRET_DIGITS = 43;
const CHECKSUM_DIGITS = 6;
const HINT_LENGTH = PREFIXES.provider.length + 4;
const FORM = /^rv[ks]_[0-9A-Za-z]{49}$/;
/** The base62 digits in ASCII order, as in GitHub's tokens. */
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

declare const apiKey: unique symbol;

/** A text with the form and the checksum of a key. It may never have been issued. */
export type ApiKey = string & { readonly [apiKey]: true };

/** Generates a key from the operating system's random source: a provider's by default. */
export function generateKey(kind: Kind = "provider"): ApiKey {
  const secret = BigInt(`0x${randomBytes(SECRET_BYTES).toString("hex")}`);
  const body = PREFIXES[kind] + encodeBase62(secret, SECRET_DIGITS);
  return (body + checksum(body)) as ApiKey;
}

/**
 * Returns the text as a key, or undefined if its form or checksum is wrong. The checksum detects
 * one changed character, and two adjacent characters swapped, with certainty; other damage
 * passes with a probability of 2^-32.
 */
export function parseKey(text: string): ApiKey | undefined {
  if (!FORM.test(text)) return undefined;
  const body = text.slice(0, -CHECKSUM_DIGITS);
  return text.endsWith(checksum(body)) ? (text as ApiKey) : undefined;
}

/** The kind that the prefix of a key tells. */
export function kindOf(key: ApiKey): Kind {
  const [kind] = KINDS.find(([, prefix]) => key.startsWith(prefix)) ?? [];
  if (kind === undefined) throw new Error("a key has no known prefix");
  return kind;
}

/**
 * The hash that is stored instead of the key: SHA-256 of its ASCII text, 32 bytes. A slow
 * password hash is not needed, because 256 random bits cannot be guessed.
 */
export function hashKey(key: ApiKey): Buffer {
  return hash("sha256", key, "buffer");
}

/** The hint, by which people tell their keys apart: the first characters, `rvk_AbCd`. */
export function hintOf(key: ApiKey): string {
  return key.slice(0, HINT_LENGTH);
}

/**
 * Cuts everything that looks like a key, or like a damaged one, to its hint: `rvk_AbCd…`. For
 * text that others may read.
 */
export function redactKeys(text: string): string {
  return text.replace(/(rv[ks]_\w{0,4})\S*?(?=["']?(?:\s|$))|(\w{4})\w{36,}/gi, "$1$2…");
}

function checksum(body: string): string {
  return encodeBase62(BigInt(crc32(body)), CHECKSUM_DIGITS);
}

/** Encodes a number, most significant digit first, padded with zeros to `length`. */
function encodeBase62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value; rest > 0n; rest /= 62n) text = ALPHABET[Number(rest % 62n)] + text;
  return text.padStart(length, "0");
}
