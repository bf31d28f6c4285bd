/** Instants and days, always in UTC. */

/** `2026-11-22 06:45:12 UTC` */
export function instant(date: Date): string {
  return `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** The day of an instant: `2026-11-22`. */
export function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}

const long = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "long",
  year: "numeric",
  timeZone: "UTC",
});

const short = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

/** `22 November 2026` */
export function longDay(date: Date): string {
  return long.format(date);
}

/** `22 Nov` */
export function shortDay(date: Date): string {
  return short.format(date);
}

/** The days of a period: `1–22 November 2026 (UTC)` */
export function days(start: Date, end: Date): string {
  // Days of one month stand close together.
  return `${long.formatRange(start, end).replace(/^(\d+)\s–\s(\d+ )/, "$1–$2")} (UTC)`;
}
