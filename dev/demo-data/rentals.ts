/** The demo's rentals: who rented what, from when to when. */
import type { Random } from "./random.ts";

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** A rental; epoch milliseconds. */
export interface Rental {
  readonly startedAt: number;
  /** Null while it runs. */
  readonly endedAt: number | null;
}

/** The time in which something can be rented; epoch milliseconds. */
export interface Availability {
  readonly from: number;
  /** When it was deleted or fell idle; Infinity for what is still rented. */
  readonly until: number;
}

/**
 * The rentals of one instance, or of one server that is rented as a whole, one after the
 * other, with pauses so long that it is rented for about `demand` of the time.
 */
export function rentalsOf(
  { from, until }: Availability,
  demand: number,
  now: number,
  random: Random,
): Rental[] {
  const rentals: Rental[] = [];
  if (demand === 0) return rentals;
  let startedAt = Math.round(from + random.between(0, 20 * HOUR));
  while (startedAt < Math.min(until, now)) {
    const wanted = duration(random);
    const end = Math.min(startedAt + wanted, until);
    rentals.push({ startedAt, endedAt: end > now ? null : end });
    startedAt = end + Math.round(wanted * (1 / demand - 1) * random.between(0.5, 1.5));
  }
  return rentals;
}

/** From a quick try of minutes to a month; most take days. Milliseconds. */
function duration(random: Random): number {
  return Math.round(30 * DAY * random.between(0.02, 1) ** 2.5);
}
