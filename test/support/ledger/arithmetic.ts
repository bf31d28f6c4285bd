/** The oracle's arithmetic: by hand, on magnitudes, as one would do it on paper. */

/** The sum of some amounts. */
export function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

/** 10 % of an amount: the digit that is cut off rounds up from 5 on, whatever the sign. */
export function tenPercent(cents: bigint): bigint {
  const size = cents < 0n ? -cents : cents;
  const fee = size / 10n + (size % 10n >= 5n ? 1n : 0n);
  return cents < 0n ? -fee : fee;
}

/** An amount in cents as the contract writes it. */
export function usd(cents: bigint): { value: string } {
  const size = cents < 0n ? -cents : cents;
  return { value: `${cents < 0n ? "-" : ""}${size / 100n}.${twoDigits(size % 100n)}` };
}

/** A price in ten-thousandths of a dollar: four digits, of which the last two may be dropped as zeros. */
export function hourlyPrice(price: bigint): { value: string } {
  const digits = [...String(price % 10_000n).padStart(4, "0")];
  if (digits.at(3) === "0") digits.pop();
  if (digits.length === 3 && digits.at(2) === "0") digits.pop();
  return { value: `${price / 10_000n}.${digits.join("")}` };
}

/** How often a price goes into an amount, to the hundredth. */
export function hours(cents: bigint, price: bigint): { value: string } {
  if (price === 0n) return usd(0n);
  // A cent is 100 units of the price; hundredths of hours are 100 times hours.
  const size = (cents < 0n ? -cents : cents) * 100n * 100n;
  const hundredths = size / price + ((size % price) * 2n >= price ? 1n : 0n);
  return usd(cents < 0n ? -hundredths : hundredths);
}

function twoDigits(number: bigint): string {
  return String(number).padStart(2, "0");
}
