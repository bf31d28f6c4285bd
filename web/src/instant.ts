/** Instants and days, always in UTC. */

/** `2026-11-22 06:45:12 UTC` */
export function instant(date: Date): string {
  return `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** The day of an instant: `2026-11-22`. */
export function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}
