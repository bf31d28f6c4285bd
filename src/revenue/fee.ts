/** The split of a gross amount into the platform's fee and the provider's earnings. */
import type { Sums } from "../rollup/sums.ts";

/**
 * Splits the gross of some charges into fee + earnings. The fee is 10 % of it, rounded once to the cent, half
 * away from zero.
 */
export function split({ gross }: Pick<Sums, "gross">) {
  const fee = divide(gross, 10n);
  return { gross, fee, earnings: gross - fee };
}

/** Divides and rounds to an integer, half away from zero. The divisor must be positive. */
export function divide(dividend: bigint, divisor: bigint): bigint {
  const half = (dividend < 0n ? -divisor : divisor) / 2n;
  // With an odd divisor no remainder is exactly half, so that truncating `half` changes nothing.
  return (dividend + half) / divisor;
}
