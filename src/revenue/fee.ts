/** What a gross amount comes to: the platform's fee, and what is left for the provider. */
import type { Cents } from "../db/cents.ts";

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
