/** Instants as the database writes them: DATETIME(3) in UTC, "2026-11-20 09:30:00.000". */

/** An instant in epoch ms, of the years 0 to 9999, as the database writes it. */
export function toDatetime(instant: number): string {
  const text = new Date(instant).toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, 23)}`;
}

/** An instant of the database in epoch ms; NaN for what is none. */
export function fromDatetime(text: string): number {
  return Date.parse(`${text.replace(" ", "T")}Z`);
}
