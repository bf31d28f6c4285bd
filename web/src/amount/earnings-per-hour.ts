/** What a provider earns in an hour that is rented. */
import { type Decimal, decimal } from "../../../clients/typescript/src/index.ts";
import { formatCents } from "../../../src/db/cents.ts";
import { divide, split } from "../../../src/revenue/fee.ts";
import { decimal as decimalOf } from "../../../src/revenue/message.ts";
import { scaled } from "./decimal-text.ts";

/** Gross revenue (USD) and the hours that it was paid for. */
interface Rented {
  readonly totalRevenue?: Decimal | undefined;
  readonly rentedHours?: Decimal | undefined;
}

/**
 * Earnings, after the platform fee, divided by the rented hours: USD, rounded to the cent, half away
 * from zero; undefined if nothing was rented.
 */
export function earningsPerHour({ totalRevenue, rentedHours }: Rented): Decimal | undefined {
  const hundredthsOfHours = hundredths(rentedHours);
  if (hundredthsOfHours === 0n) return undefined;
  const { earnings } = split({ gross: hundredths(totalRevenue) });
  return decimalOf(formatCents(divide(earnings * 100n, hundredthsOfHours)));
}

/** A number with two digits as an integer: of US dollars, the cents. */
function hundredths(value: Decimal | undefined): bigint {
  return scaled(decimal(value)) / 100n;
}
