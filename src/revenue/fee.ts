/** The split of a gross amount into the platform's fee and the provider's earnings. */
import type { Cents } from "../db/cents.ts";

/** A gross amount and its parts: earnings + fee = gross. */
export interface Split {
  readonly gross: Cents;
  /** 10 % of gross, rounded to the cent. */
  readonly fee: Cents;
  /** Gross minus fee. */
  readonly earnings: Cents;
}

/** Splits a gross amount. The fee is 10 % of it, rounded once to the cent, half away from zero. */
export function split(gross: Cents): Split {
  const fee = divide(gross, 10n);
  return { gross, fee, earnings: gross - fee };
}

/** Divides and rounds to an integer, half away from zero. The divisor must be positive. */
export function divide(dividend: bigint, divisor: bigint): bigint {
  const half = (dividend < 0n ? -divisor : divisor) / 2n;
  // With an odd divisor no remainder is exactly half, so that truncating `half` changes nothing.
  return (dividend + half) / divisor;
}
