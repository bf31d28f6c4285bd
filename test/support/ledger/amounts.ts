/** The arithmetic of the oracle: on magnitudes, and independent of the service's code. Results are as in protobuf's JSON. */

/** The sum of the amounts. */
export function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

/** 10 % of an amount in cents, rounded half away from zero. */
export function tenPercent(cents: bigint): bigint {
  const size = cents < 0n ? -cents : cents;
  const fee = size / 10n + (size % 10n >= 5n ? 1n : 0n);
  return cents < 0n ? -fee : fee;
}

/** An amount in cents as a Decimal in JSON: 450000n is "4500.00". */
export function usd(cents: bigint): { value: string } {
  const size = cents < 0n ? -cents : cents;
  return { value: `${cents < 0n ? "-" : ""}${size / 100n}.${twoDigits(size % 100n)}` };
}

/** A price in ten-thousandths of a dollar as a Decimal in JSON: two to four digits, without further zeros. */
export function hourlyPrice(price: bigint): { value: string } {
  const digits = [...String(price % 10_000n).padStart(4, "0")];
  if (digits.at(3) === "0") digits.pop();
  if (digits.length === 3 && digits.at(2) === "0") digits.pop();
  return { value: `${price / 10_000n}.${digits.join("")}` };
}

/** Cents divided by an hourly price in ten-thousandths of a dollar: hours, rounded to two digits. */
export function hours(cents: bigint, price: bigint): { value: string } {
  if (price === 0n) return usd(0n);
  // A cent is 100 units of the price, and an hour is 100 hundredths.
  const size = (cents < 0n ? -cents : cents) * 100n * 100n;
  const hundredths = size / price + ((size % price) * 2n >= price ? 1n : 0n);
  return usd(cents < 0n ? -hundredths : hundredths);
}

/** Milliseconds in hundredths of hours, rounded half up. */
export function hundredthsOfHours(ms: bigint): bigint {
  return ms / 36_000n + (ms % 36_000n >= 18_000n ? 1n : 0n);
}

/** An ISO 8601 instant as protobuf JSON writes a Timestamp: with milliseconds only if they are not zero. */
export function timestamp(iso: string): string {
  return iso.replace(".000Z", "Z");
}

function twoDigits(number: bigint): string {
  return String(number).padStart(2, "0");
}
