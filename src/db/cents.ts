/**
 * Money: US cents in a bigint. No amount is ever a binary floating-point number, from the
 * database's DECIMAL to the response.
 */

const POINT = ".".charCodeAt(0);
const ZERO = "0".charCodeAt(0);
const NINE = "9".charCodeAt(0);

/** An amount in US cents; negative if refunds exceed charges. */
export type Cents = bigint;

/**
 * Parses the text of a DECIMAL(…, 2): "4500.00", "-0.05".
 *
 * @throws Error if the text has any other form
 */
export function parseCents(text: string): Cents {
  const digits = text.startsWith("-") ? 1 : 0;
  const point = text.length - 3;
  let [cents, isValid] = [0, point > digits];
  for (let i = digits; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (i === point) isValid &&= code === POINT;
    else {
      isValid &&= code >= ZERO && code <= NINE;
      cents = cents * 10 + code - ZERO;
    }
  }
  if (!isValid) throw new Error(`expected an amount with two digits: ${JSON.stringify(text)}`);
  // An integer below 2^53 is exact as a number, which makes a bigint in less time than text does.
  if (cents > Number.MAX_SAFE_INTEGER) return BigInt(text.replace(".", ""));
  return BigInt(digits === 1 ? -cents : cents);
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
