/**
 * Money: US cents in a bigint. No amount is ever a binary floating-point number, from the
 * database's DECIMAL to the response.
 */

/** An amount in US cents; negative if refunds exceed charges. */
export type Cents = bigint;

const AMOUNT = /^-?\d+\.\d{2}$/;

/**
 * Parses the text of a DECIMAL(…, 2): "4500.00", "-0.05".
 *
 * @throws Error if the text has any other form
 */
export function parseCents(text: string): Cents {
  if (!AMOUNT.test(text)) {
    throw new Error(`expected an amount with two digits: ${JSON.stringify(text)}`);
  }
  return BigInt(text.slice(0, -3) + text.slice(-2));
}

/** Formats an amount with two digits: 450000n is "4500.00", -5n is "-0.05". */
export function formatCents(cents: Cents): string {
  const digits = (cents < 0n ? -cents : cents).toString().padStart(3, "0");
  return `${cents < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
