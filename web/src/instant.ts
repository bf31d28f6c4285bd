/**
 * Days, months and instants as text: one form for all of the page. A day is its ISO text, `2026-11-22`, and a
 * month the start of it; an instant lies in a day, and has a time, in a time zone.
 */

/** The zone of days, which have no other. */
export const UTC = "UTC";

const SHORT = { day: "numeric", month: "short" } as const;
const DAY = { ...SHORT, year: "numeric" } as const;
const INSTANT = { ...DAY, hour: "2-digit", minute: "2-digit" } as const;

function format(at: Date | string, options: Intl.DateTimeFormatOptions, timeZone = UTC): string {
  const text = new Intl.DateTimeFormat("en-GB", { ...options, timeZone }).format(new Date(at));
  // Three letters for each month, as the service has them.
  return text.replace(/\bSept\b/, "Sep");
}

/** `22 Nov` */
export function shortDay(day: string): string {
  return format(day, SHORT);
}

/** `22 Nov 2026` */
export function longDay(day: string): string {
  return format(day, DAY);
}

/** `November 2026`; of `2026`, the year alone. */
export function longMonth(month: string): string {
  return format(month, month.length > 4 ? { month: "long", year: "numeric" } : { year: "numeric" });
}

/** `Nov 2026` */
export function shortMonth(month: string): string {
  return format(month, { month: "short", year: "numeric" });
}

/** `22 Nov 2026, 06:45` */
export function instant(at: Date, timeZone: string): string {
  return format(at, INSTANT, timeZone);
}

/** The day that an instant lies in: `2026-11-22`. */
export function dayAt(at: Date, timeZone: string): string {
  const parts = { year: "numeric", month: "2-digit", day: "2-digit" } as const;
  // Dates in Swedish are those of ISO 8601, but for the zeros before a year.
  return new Intl.DateTimeFormat("sv-SE", { ...parts, timeZone }).format(at).padStart(10, "0");
}
