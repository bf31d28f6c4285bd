/**
 * Money: US cents in a bigint. From MySQL's DECIMAL text to the last byte of an answer, no
 * amount is ever a binary floating-point number.
 */

/** An amount in US cents; negative where refunds outweigh charges. */
export type Cents = bigint;

const AMOUNT = /^-?\d+\.\d{2}$/;

/** Parses a DECIMAL(…, 2) as the database writes it: "4500.00", "-0.05". */
export function parseCents(text: string): Cents {
  if (!AMOUNT.test(text)) {
    throw new Error(`not an amount with two digits: ${JSON.stringify(text)}`);
  }
  return BigInt(text.slice(0, -3) + text.slice(-2));
}

/** Writes an amount with two digits: 450000n is "4500.00", -5n is "-0.05". */
export function formatCents(cents: Cents): string {
  const digits = (cents < 0n ? -cents : cents).toString().padStart(3, "0");
  return `${cents < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
