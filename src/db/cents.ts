/**
 * Money: US cents in a bigint. No amount is ever a fraction in binary floating point, from the
 * database's DECIMAL to the response.
 */

/** An amount in US cents; negative if refunds exceed charges. */
export type Cents = bigint;

/**
 * The longest text that is parsed digit by digit, which takes half of the time. Its cents are below
 * 2^53, up to which numbers hold all integers.
 */
const MAX_SHORT = 14;
/** The character code of "0". */
const ZERO = 48;

/**
 * Parses the text of a DECIMAL(…, 2): "4500.00", "-0.05".
 *
 * @throws Error if the text has any other form
 */
export function parseCents(text: string): Cents {
  const short = text.length <= MAX_SHORT ? parseShort(text) : undefined;
  if (short !== undefined) return BigInt(short);
  if (!/^-?\d+\.\d{2}$/.test(text)) {
    throw new Error(`expected an amount with two digits: ${JSON.stringify(text)}`);
  }
  return BigInt(text.replace(".", ""));
}

/** A short amount as a whole number of cents; undefined if the text has any other form. */
function parseShort(text: string): number | undefined {
  const start = text[0] === "-" ? 1 : 0;
  const point = text.length - 3;
  if (point <= start || text[point] !== ".") return undefined;
  let cents = 0;
  for (let i = start; i < text.length; i++) {
    if (i === point) continue;
    const digit = text.charCodeAt(i) - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    cents = 10 * cents + digit;
  }
  return start === 1 ? -cents : cents;
}

/** Formats an amount with two digits: 450000n is "4500.00", -5n is "-0.05". */
export function formatCents(cents: Cents): string {
  return formatFixed(cents, 2);
}

/** Formats a number of 10^-`digits` with that many fraction digits: (-5n, 2) is "-0.05". */
export function formatFixed(number: bigint, digits: number): string {
  const text = (number < 0n ? -number : number).toString().padStart(digits + 1, "0");
  return `${number < 0n ? "-" : ""}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}
