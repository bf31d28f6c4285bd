/**
 * Money: US cents in a bigint. No amount is ever a binary floating-point number, from the
 * database's DECIMAL to the response.
 */

/** An amount in US cents; negative if refunds exceed charges. */
export type Cents = bigint;

/**
 * Parses the text of a DECIMAL(…, 2): "4500.00", "-0.05".
 *
 * @throws Error if the text has any other form
 */
export function parseCents(text: string): Cents {
  if (!/^-?\d+\.\d{2}$/.test(text)) {
    throw new Error(`expected an amount with two digits: ${JSON.stringify(text)}`);
  }
  return BigInt(text.replace(".", ""));
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
