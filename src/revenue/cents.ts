/**
 * Money: US cents in a bigint. From MySQL's DECIMAL text to the last byte of an
 * answer, no amount is ever a binary floating-point number.
 */

/** An amount in US cents; negative where refunds outweigh charges. */
export type Cents = bigint;

/** Parses a DECIMAL(…, 2) as the database writes it: "4500.00", "-0.05". */
export function parseCents(text: string): Cents {
  const [, sign, whole, fraction] = /^(-?)(\d+)\.(\d{2})$/.exec(text) ?? [];
  if (whole === undefined || fraction === undefined) {
    throw new Error(`not an amount with two digits: ${JSON.stringify(text)}`);
  }
  const cents = BigInt(whole + fraction);
  return sign === "-" ? -cents : cents;
}

/** Writes an amount with two digits: 450000n is "4500.00", -5n is "-0.05". */
export function formatCents(cents: Cents): string {
  const digits = (cents < 0n ? -cents : cents).toString().padStart(3, "0");
  return `${cents < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** What is left of a gross amount for the provider, and what the platform takes. */
export interface Split {
  readonly gross: Cents;
  /** 10 % of gross, rounded to the cent. */
  readonly fee: Cents;
  /** Gross minus fee, so that earnings + fee = gross, always. */
  readonly earnings: Cents;
}

/**
 * Splits a gross amount: the platform's fee is 10 % of it (spec, section 8), rounded
 * once to the cent, half away from zero.
 */
export function split(gross: Cents): Split {
  const fee = divide(gross, 10n);
  return { gross, fee, earnings: gross - fee };
}

/** `dividend / divisor` as a whole number, rounded half away from zero; the divisor is positive. */
export function divide(dividend: bigint, divisor: bigint): bigint {
  const half = (dividend < 0n ? -divisor : divisor) / 2n;
  // An odd divisor has no exact half, and so nothing to round away at half.
  return (dividend + half) / divisor;
}
