/** The expiry of a key, as a person writes it. */

/** A date, or a date and a time, with an offset or without: a subset of ISO 8601 and RFC 3339. */
const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})(?:T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/i;

/**
 * The instant that a text means, in epoch milliseconds; undefined where it means none. A
 * date alone means its first instant, a time without an offset is UTC.
 */
export function parseExpiry(text: string): number | undefined {
  const match = DATE_TIME.exec(text);
  if (match === null) return undefined;
  const [, date, hour = "00", minute = "00", second = "00", fraction = "", offset = "Z"] = match;
  try {
    return Temporal.Instant.from(`${date}T${hour}:${minute}:${second}${fraction}${offset}`)
      .epochMilliseconds;
  } catch {
    return undefined; // a day or an offset that does not exist
  }
}
