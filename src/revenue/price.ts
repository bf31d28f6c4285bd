/** Hourly prices, which have four decimal digits, and hours of usage estimated from them. */
import { type Cents, formatCents } from "../db/cents.ts";
import { divide } from "./fee.ts";

/** Ten-thousandths of a US dollar per hour. */
export type HourlyPrice = bigint;

/**
 * Parses the text of a DECIMAL(12, 4) column: "2.5000".
 *
 * @throws Error if the text does not have four decimal digits
 */
export function parseHourlyPrice(text: string): HourlyPrice {
  const [, sign, whole, fraction] = /^(-?)(\d+)\.(\d{4})$/.exec(text) ?? [];
  if (whole === undefined || fraction === undefined) {
    throw new Error(`expected a price with four decimal digits, got ${JSON.stringify(text)}`);
  }
  const price = BigInt(whole + fraction);
  return sign === "-" ? -price : price;
}

/** Formats a price with two to four decimal digits: "2.50", "0.3475". */
export function formatHourlyPrice(price: HourlyPrice): string {
  const digits = (price < 0n ? -price : price).toString().padStart(5, "0");
  const fraction = digits.slice(-4).replace(/0{1,2}$/, "");
  return `${price < 0n ? "-" : ""}${digits.slice(0, -4)}.${fraction}`;
}

/**
 * Estimates hours of usage: gross ÷ price with two decimal digits ("12.50"), rounded half away
 * from zero; "0.00" if the price is not positive.
 */
export function estimateHours(gross: Cents, price: HourlyPrice): string {
  // Hundredths of hours: (cents / 100) ÷ (price / 10,000) × 100.
  return formatCents(price > 0n ? divide(gross * 10_000n, price) : 0n);
}
