/** The demo's charges: the price of rentals, and refunds. */
import { DAY, HOUR } from "../duration.ts";
import type { Random } from "../random.ts";
import type { Rental } from "./rentals.ts";

/** A charge of a rental. */
export interface Charge {
  /** Epoch ms. */
  readonly chargedAt: number;
  /** Cents; negative for a refund. */
  readonly cents: number;
}

/** The billing interval, in ms. A rental is charged at the end of each interval and when it ends. */
const INTERVAL = 12 * HOUR;
/** The fraction of charges that is refunded. */
const REFUNDED = 0.004;

/**
 * The charges and refunds of a rental until now. A charge is price × time, rounded to the cent;
 * there are no charges of 0.
 *
 * @param price USD per hour
 * @param now epoch ms
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

/** A refund of a charge or of half of it, up to five days later. */
function refund(chargedAt: number, cents: number, random: Random): Charge {
  return {
    chargedAt: chargedAt + Math.round(random.between(HOUR, 5 * DAY)),
    cents: -(random.happens(0.5) ? cents : Math.ceil(cents / 2)),
  };
}
