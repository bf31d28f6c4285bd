/** Base62 with the digits in ASCII order, as in GitHub's tokens: 0-9, A-Z, a-z. */
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE = BigInt(ALPHABET.length);

/**
 * Encodes a number in base62, most significant digit first, padded with zeros to `length`.
 *
 * @param value at least 0 and less than 62 to the power of `length`
 */
export function encodeBase62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value; rest > 0n; rest /= BASE) {
    text = ALPHABET.charAt(Number(rest % BASE)) + text;
  }
  return text.padStart(length, "0");
}
