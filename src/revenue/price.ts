/** Hourly prices, which have four decimal digits, and hours of usage estimated from them. */
import { type Cents, formatCents, formatFixed } from "../db/cents.ts";
import { divide } from "./fee.ts";

/**
 * Parses the text of a DECIMAL(12, 4) column, "2.5000", to ten-thousandths of a US dollar per hour.
 *
 * @throws Error if the text does not have four decimal digits
 */
export function parseHourlyPrice(text: string): bigint {
  if (!/^-?\d+\.\d{4}$/.test(text)) {
    throw new Error(`expected a price with four decimal digits, got ${JSON.stringify(text)}`);
  }
  return BigInt(text.replace(".", ""));
}

/** Formats a price with two to four decimal digits: "2.50", "0.3475". */
export function formatHourlyPrice(price: bigint): string {
  return formatFixed(price, 4).replace(/0{1,2}$/, "");
}

/**
 * Estimates hours of usage: gross ÷ price with two decimal digits ("12.50"), rounded half away
 * from zero; "0.00" if the price is not positive.
 */
export function estimateHours(gross: Cents, price: bigint): string {
  // Hundredths of hours: (cents / 100) ÷ (price / 10,000) × 100.
  return formatCents(price > 0n ? divide(gross * 10_000n, price) : 0n);
}
