/** Durations in milliseconds. */

/** An hour in ms. */
export const HOUR = 3_600_000;
/** A day of 24 hours in ms. */
export const DAY = 24 * HOUR;
