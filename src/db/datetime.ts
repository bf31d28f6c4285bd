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

/** A day in UTC, in ms. */
export const DAY = 86_400_000;

/**
 * The first instant that a row is dated at. Rows that are dated before it count as dated at it. As a watermark, it
 * is that of a provider without a rollup: before every recording.
 */
export const FIRST_INSTANT = "0001-01-01 00:00:00.000";
/** The last instant that a row can be dated at: no row there is covered, so it is no boundary of a rollup. */
export const LAST_INSTANT = "9999-12-31 23:59:59.999";
/** The same two in epoch ms. */
export const EARLIEST = fromDatetime(FIRST_INSTANT);
export const LATEST = fromDatetime(LAST_INSTANT);

const LAST_OF_DAY = " 23:59:59.999";

/**
 * What sorts first after an instant, both as DATETIME(3) text. After the last instant of a month that is a date which
 * does not exist, but which a writer without a strict `sql_mode` can store: 2026-11-31, 2026-11-00, 2027-00-00.
 */
export function after(at: string): string {
  if (!at.endsWith(LAST_OF_DAY)) return toDatetime(fromDatetime(at) + 1);
  const [year = 0, month = 0, day = 0] = at.slice(0, 10).split("-").map(Number);
  const next = day < 31 ? [year, month, day + 1] : month < 12 ? [year, month + 1, 0] : [year + 1];
  const [y, m, d] = [0, 1, 2].map((part) => String(next[part] ?? 0).padStart(part ? 2 : 4, "0"));
  return `${y}-${m}-${d} 00:00:00.000`;
}

/** The earlier of two, as DATETIME(3) text, and the later one. */
export const earlierOf = (one: string, other: string) => (one < other ? one : other);
export const laterOf = (one: string, other: string) => (one > other ? one : other);

/** The end of a stretch of time, in epoch ms, as a boundary. What goes on up to the last instant ends with it. */
export function toBoundary(at: number): string {
  return at > LATEST ? LAST_INSTANT : toDatetime(at);
}

/**
 * Parses DATETIME text of any row to epoch ms. What is dated before the year 1 counts as dated at its
 * first instant, like the date zero. A date that does not exist, which a writer without a strict
 * `sql_mode` can store, is the last instant of those that sort before it.
 */
export function instantOf(text: string): number {
  const at = fromDatetime(text);
  const exists = new Date(at).getUTCDate() === Number(text.slice(8, 10));
  if (exists) return Math.max(at, EARLIEST);
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split("-").map(Number);
  const next = month === 0 || day > 0 ? month : month - 1;
  return Math.max(EARLIEST, monthStart(year, next) - 1);
}

/** The first instant of a month, in epoch ms. `Date.UTC` takes the years before 100 for others. */
export function monthStart(year: number, month: number): number {
  return new Date(0).setUTCFullYear(year, month, 1);
}
