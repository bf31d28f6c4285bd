/**
 * `google.protobuf.Timestamp` in JSON: an RFC 3339 date-time in UTC.
 *
 * @see https://protobuf.dev/programming-guides/json/
 */

/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z, in seconds since 1970: timestamp.proto. */
const FIRST_SECOND = -62_135_596_800;
const LAST_SECOND = 253_402_300_799;

/**
 * A timestamp as a JSON string: `"2026-11-20T09:30:00Z"`. A fraction that is not zero has 3, 6 or 9
 * digits, as few as are exact. Throws an Error outside the years 1 to 9999.
 *
 * @param seconds since 1970
 * @param nanos 0 to 999,999,999, counted forward from `seconds`
 */
export function writeTimestamp(seconds: bigint, nanos: number): string {
  const second = Number(seconds);
  if (second < FIRST_SECOND || second > LAST_SECOND) {
    throw new Error(`${seconds} seconds are outside the years 0001 to 9999`);
  }
  if (!Number.isInteger(nanos) || nanos < 0 || nanos > 999_999_999) {
    throw new Error(`${nanos} nanoseconds are outside 0 to 999999999`);
  }
  return `"${new Date(second * 1000).toISOString().slice(0, 19)}${fraction(nanos)}Z"`;
}

function fraction(nanos: number): string {
  if (nanos === 0) return "";
  const digits = `${nanos}`.padStart(9, "0");
  if (nanos % 1_000_000 === 0) return `.${digits.slice(0, 3)}`;
  if (nanos % 1000 === 0) return `.${digits.slice(0, 6)}`;
  return `.${digits}`;
}
