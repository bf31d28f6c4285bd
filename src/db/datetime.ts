/** Instants as DATETIME(3) text in UTC: "2026-11-20 09:30:00.000". */

/** Formats an instant in epoch ms, in the years 0 to 9999. */
export function toDatetime(instant: number): string {
  const text = new Date(instant).toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, 23)}`;
}

/** Parses DATETIME text to epoch ms; NaN if it is not an instant. */
export function fromDatetime(text: string): number {
  return Date.parse(`${text.slice(0, 10)}T${text.slice(11)}Z`);
}
