/**
 * Days and instants as text: one form for all of the page. A day is its ISO text, `2026-11-22`; an
 * instant lies in a day, and has a time, in a time zone.
 */

/** The zone of the overview, and of days, which have no other. */
export const UTC = "UTC";

const SHORT = { day: "numeric", month: "short" } as const;
const DAY = { ...SHORT, year: "numeric" } as const;
const INSTANT = { ...DAY, hour: "2-digit", minute: "2-digit" } as const;

function format(at: Date, options: Intl.DateTimeFormatOptions, timeZone = UTC): string {
  const text = new Intl.DateTimeFormat("en-GB", { ...options, timeZone }).format(at);
  // Three letters for each month, as the service has them.
  return text.replace("Sept", "Sep");
}

/** `22 Nov` */
export function shortDay(day: string): string {
  return format(new Date(day), SHORT);
}

/** `22 Nov 2026` */
export function longDay(day: string): string {
  return format(new Date(day), DAY);
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
