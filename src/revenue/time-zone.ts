/** Time zones of the IANA database, and the calendar days of a zone. */
import { DAY } from "../db/datetime.ts";
import { ServiceError } from "../errors.ts";
import { quote } from "../quote.ts";

/** The default zone. */
export const UTC = "UTC";

/** Stricter than Temporal, which accepts offsets and whole instants. */
const NAME = /^[A-Za-z][A-Za-z0-9_+/-]*$/;

/**
 * Parses the text of `timeZone`; an empty one is UTC.
 *
 * @returns the name in the database's upper and lower case
 * @throws ServiceError `invalidArgument`
 */
export function parseTimeZone(text: string): string {
  if (text === "" || text === UTC) return UTC;
  try {
    if (NAME.test(text)) return EPOCH.toZonedDateTimeISO(text).timeZoneId;
  } catch {
    // There is no such zone.
  }
  throw new ServiceError(
    "invalidArgument",
    `timeZone: expected a name of the IANA time zone database, such as Asia/Kolkata, got ${quote(text)}`,
    { field: "timeZone" },
  );
}

const EPOCH = Temporal.Instant.fromEpochMilliseconds(0);
const EPOCH_DATE = new Temporal.PlainDate(1970, 1, 1);

/**
 * Days of a zone have the numbers of their dates: days from 1970-01-01. A day runs from its first instant to that of
 * the next day that exists, so one that the zone has left out has no length.
 */
export type DayNumber = number;

/** The first instant of a day, in epoch ms. */
export function startOfDay(day: DayNumber, zone: string): number {
  if (zone === UTC) return day * DAY;
  return EPOCH_DATE.add({ days: day }).toZonedDateTime(zone).epochMilliseconds;
}

/** The day that an instant (epoch ms) lies in. */
export function dayAt(instant: number, zone: string): DayNumber {
  const day = Math.floor((instant + offsetAt(instant, zone)) / DAY);
  // Clocks that are put back at midnight show the end of a day again, when the next one has begun.
  return zone !== UTC && startOfDay(day + 1, zone) <= instant ? day + 1 : day;
}

/** The difference to UTC at an instant (epoch ms), in ms. */
function offsetAt(instant: number, zone: string): number {
  if (zone === UTC) return 0;
  const { offsetNanoseconds } =
    Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone);
  return offsetNanoseconds / 1_000_000;
}

/** Whether a zone has a day. */
export function hasDay(day: DayNumber, zone: string): boolean {
  return startOfDay(day, zone) < startOfDay(day + 1, zone);
}

/** The date of a day: "2026-11-20"; of the year 10000, which zones east of UTC come to first, "+010000-01-01". */
export function dateOf(day: DayNumber): string {
  const text = new Date(day * DAY).toISOString();
  return text.slice(0, text.indexOf("T"));
}

/** The day of a date that exists, "2026-11-20". */
export function dayOfDate(date: string): DayNumber {
  return Date.parse(`${date}T00:00:00Z`) / DAY;
}

/** The instant of a local date-time without an offset, "2026-11-20T09:30:00.000", in epoch ms. */
export function instantAt(local: string, zone: string): number {
  // One that comes twice is the first of the two; one that is skipped counts as much later.
  return Temporal.PlainDateTime.from(local).toZonedDateTime(zone).epochMilliseconds;
}
