/** Instants and days as text: one form for all of the page, always in UTC. */

function form(options: Intl.DateTimeFormatOptions): (date: Date) => string {
  const format = new Intl.DateTimeFormat("en-GB", { ...options, timeZone: "UTC" });
  // Three letters for each month, as the service has them.
  return (date) => format.format(date).replace("Sept", "Sep");
}

const SHORT = { day: "numeric", month: "short" } as const;
const DAY = { ...SHORT, year: "numeric" } as const;

/** `22 Nov` */
export const shortDay = form(SHORT);

/** `22 Nov 2026` */
export const longDay = form(DAY);

/** `22 Nov 2026, 06:45` */
export const instant = form({ ...DAY, hour: "2-digit", minute: "2-digit" });

/** The days of a period: `1 Nov 2026 – 22 Nov 2026` */
export function days(start: Date, end: Date): string {
  return `${longDay(start)} – ${longDay(end)}`;
}

/** The day of an instant for programs: `2026-11-22`. */
export function isoDay(date: Date): string {
  return date.toISOString().slice(0, 10);
}
