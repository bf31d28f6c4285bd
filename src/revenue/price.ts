/** Hourly prices, which are stored with four digits, and the usage that they let one estimate. */
import { type Cents, formatCents } from "../db/cents.ts";
import { divide } from "./fee.ts";

/** Ten-thousandths of a US dollar per hour. */
export type HourlyPrice = bigint;

/** Parses a DECIMAL(12, 4) as the database writes it: "2.5000". */
export function parseHourlyPrice(text: string): HourlyPrice {
  const [, sign, whole, fraction] = /^(-?)(\d+)\.(\d{4})$/.exec(text) ?? [];
  if (whole === undefined || fraction === undefined) {
    throw new Error(`not a price with four digits: ${JSON.stringify(text)}`);
  }
  const price = BigInt(whole + fraction);
  return sign === "-" ? -price : price;
}

/** Writes a price with at least two digits and at most four: "2.50", "0.3475". */
export function formatHourlyPrice(price: HourlyPrice): string {
  const digits = (price < 0n ? -price : price).toString().padStart(5, "0");
  const fraction = digits.slice(-4).replace(/0{1,2}$/, "");
  return `${price < 0n ? "-" : ""}${digits.slice(0, -4)}.${fraction}`;
}

/**
 * Estimates hours of usage from what was charged: gross ÷ price, two digits ("12.50"),
 * rounded half away from zero; "0.00" for a price that is not positive.
 */
export function estimateHours(gross: Cents, price: HourlyPrice): string {
  // cents / 100 ÷ (price / 10,000) hours, in hundredths: gross × 10,000 ÷ price.
  return formatCents(price > 0n ? divide(gross * 10_000n, price) : 0n);
}
