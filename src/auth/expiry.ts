/** Parses the expiry of an API key, as an operator types it. */

/** A date, optionally with a time and an offset. Stricter than `Temporal`, which does the rest. */
const FORM =
  /^(\d{4}-\d{2}-\d{2})(?:(T\d{2}:\d{2}(?::[0-5]\d(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:\d{2})?)?$/i;

/**
 * Parses a date or a date-time (ISO 8601) to epoch ms; undefined if it is invalid. A date means
 * its first instant; without an offset, the time is UTC.
 */
export function parseExpiry(text: string): number | undefined {
  const match = FORM.exec(text);
  if (match === null) return undefined;
  const [, date, time = "T00:00", offset = "Z"] = match;
  try {
    return Temporal.Instant.from(`${date}${time}${offset}`).epochMilliseconds;
  } catch {
    return undefined; // no such day, time or offset
  }
}
