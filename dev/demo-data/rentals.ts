/** The demo's rentals of servers and instances. */
import { DAY, HOUR } from "../duration.ts";
import type { Random } from "../random.ts";

/** A rental, in epoch ms. */
export interface Rental {
  readonly startedAt: number;
  /** Null while the rental is open. */
  readonly endedAt: number | null;
}

/** The period in which something can be rented, in epoch ms. */
export interface Availability {
  readonly from: number;
  /** When it was deleted or last rented; Infinity if it can be rented now. */
  readonly until: number;
}

/**
 * The consecutive rentals of an instance, or of a server that is rented as a whole. The pauses
 * between them are such that it is rented for a fraction of about `demand` of the time.
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
    const length = duration(random);
    const end = Math.min(startedAt + length, until);
    rentals.push({ startedAt, endedAt: end > now ? null : end });
    startedAt = end + Math.round(length * (1 / demand - 1) * random.between(0.5, 1.5));
  }
  return rentals;
}

/** A rental's duration in ms: from minutes to a month, mostly days. */
function duration(random: Random): number {
  return Math.round(30 * DAY * random.between(0.02, 1) ** 2.5);
}
