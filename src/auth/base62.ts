/** Base62 as in GitHub's tokens: digits, then capitals, then small letters. */
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE = BigInt(ALPHABET.length);

/**
 * Writes a number in base62, most significant digit first, with zeros in front up to `length`.
 * @param value zero or more, and less than 62 to the power of `length`
 */
export function encodeBase62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value; rest > 0n; rest /= BASE) {
    text = ALPHABET.charAt(Number(rest % BASE)) + text;
  }
  return text.padStart(length, "0");
}
