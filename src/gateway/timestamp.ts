/**
 * `google.protobuf.Timestamp` in JSON: an RFC 3339 date-time in UTC.
 *
 * @see https://protobuf.dev/programming-guides/json/
 */

/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z, in seconds since 1970: timestamp.proto. */
const FIRST_SECOND = -62_135_596_800;
const LAST_SECOND = 253_402_300_799;

const SECONDS_PER_DAY = 86_400;

/** "00" to "99". */
const TWO = Array.from({ length: 100 }, (_, number) => `${number}`.padStart(2, "0"));

/**
 * The instant as a JSON string: `"2026-11-20T09:30:00Z"`. A fraction is written where it is
 * not zero, with 3, 6 or 9 digits, as few as hold it exactly. `seconds` count from 1970,
 * `nanos` (0 to 999,999,999) on from there. Throws an Error outside the years 1 to 9999.
 */
export function writeTimestamp(seconds: bigint, nanos: number): string {
  const second = Number(seconds);
  if (second < FIRST_SECOND || second > LAST_SECOND) {
    throw new Error(`${seconds} seconds are outside the years 0001 to 9999`);
  }
  if (!Number.isInteger(nanos) || nanos < 0 || nanos > 999_999_999) {
    throw new Error(`${nanos} nanoseconds are outside 0 to 999999999`);
  }
  const day = Math.floor(second / SECONDS_PER_DAY);
  return `"${date(day)}T${clock(second - day * SECONDS_PER_DAY)}${fraction(nanos)}Z"`;
}

/**
 * A day since 1970 as a date; a `Date` takes twice as long. Years are counted from March,
 * so that a leap day ends one: https://howardhinnant.github.io/date_algorithms.html#civil_from_days
 */
function date(daySince1970: number): string {
  const day = daySince1970 + 719_468;
  const era = Math.floor(day / 146_097);
  const ofEra = day - era * 146_097;
  const leaps = Math.floor(ofEra / 1460) - Math.floor(ofEra / 36_524) + Math.floor(ofEra / 146_096);
  const yearOfEra = Math.floor((ofEra - leaps) / 365);
  const ofYear =
    ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const month = Math.floor((5 * ofYear + 2) / 153);
  const ofMonth = ofYear - Math.floor((153 * month + 2) / 5) + 1;
  const year = yearOfEra + era * 400 + (month < 10 ? 0 : 1);
  const century = Math.floor(year / 100);
  return `${TWO[century]}${TWO[year - century * 100]}-${TWO[month < 10 ? month + 3 : month - 9]}-${TWO[ofMonth]}`;
}

function clock(secondOfDay: number): string {
  const minute = Math.floor(secondOfDay / 60);
  const hour = Math.floor(minute / 60);
  return `${TWO[hour]}:${TWO[minute - hour * 60]}:${TWO[secondOfDay - minute * 60]}`;
}

function fraction(nanos: number): string {
  if (nanos === 0) return "";
  const digits = `${nanos}`.padStart(9, "0");
  if (nanos % 1_000_000 === 0) return `.${digits.slice(0, 3)}`;
  if (nanos % 1000 === 0) return `.${digits.slice(0, 6)}`;
  return `.${digits}`;
}
