/** The demo's charges: what the rentals cost, and what was given back. */
import type { Random } from "./random.ts";
import { DAY, HOUR, type Rental } from "./rentals.ts";

/** A charge of a rental. */
export interface Charge {
  /** Epoch milliseconds. */
  readonly chargedAt: number;
  /** Cents; negative for a refund. */
  readonly cents: number;
}

/** A rental is billed so often, at the end of each interval, and once more when it ends. */
const INTERVAL = 12 * HOUR;
const REFUNDED = 0.004;

/**
 * The charges of a rental up to now, refunds included: price × time, rounded to the cent.
 * What costs nothing is not charged.
 * @param price USD per hour
 */
export function chargesOf(rental: Rental, price: number, now: number, random: Random): Charge[] {
  const charges: Charge[] = [];
  const end = rental.endedAt ?? now;
  for (let from = rental.startedAt; from < end; from += INTERVAL) {
    const to = from + INTERVAL;
    if (to > end && rental.endedAt === null) break;
    const chargedAt = Math.min(to, end);
    const cents = Math.round((price * 100 * (chargedAt - from)) / HOUR);
    if (cents === 0) continue;
    charges.push({ chargedAt, cents });
    if (random.happens(REFUNDED)) charges.push(refund(chargedAt, cents, random));
  }
  return charges.filter(({ chargedAt }) => chargedAt <= now);
}

/** All of a charge, or half of it, given back within days. */
function refund(chargedAt: number, cents: number, random: Random): Charge {
  return {
    chargedAt: chargedAt + Math.round(random.between(HOUR, 5 * DAY)),
    cents: -(random.happens(0.5) ? cents : Math.ceil(cents / 2)),
  };
}
