/**
 * The period of a request, parsed from the texts of `startDate` and `endDate`. All protocols pass the
 * texts unchanged, so they accept the same formats.
 */
import { DAY, EARLIEST, LATEST, toDatetime } from "../db/datetime.ts";
import { ServiceError } from "../errors.ts";
import { quote } from "../quote.ts";
import { includingEarlier } from "../rollup/read/boundaries.ts";
import { type DayNumber, dayOfDate, hasDay, instantAt, startOfDay, UTC } from "./time-zone.ts";

/** A period in epoch ms. Both ends are inclusive, and the start is never after the end. */
export interface Period {
  readonly start: number;
  readonly end: number;
}

/** The ends that a request gives. What it leaves out depends on the instant of the answer. */
export type RequestedPeriod = { readonly [End in keyof Period]: number | undefined };

/** The default length of a period, in days and in ms. */
export const DEFAULT_DAYS = 30;
export const DEFAULT_LENGTH = DEFAULT_DAYS * DAY;

/**
 * The parameters of a period at `now` (epoch ms), as DATETIME(3) text: `after` is the first instant after its end.
 * Nothing that is dated after now counts.
 */
export function boundsOf({ start, end }: Period, now: number) {
  return {
    start: includingEarlier(toDatetime(start)),
    after: toDatetime(Math.min(end, now) + 1),
    now: toDatetime(now),
  };
}

/**
 * Parses the two ends of a period. An empty text is an omitted parameter. A date without a time is its
 * first millisecond as a start and its last as an end.
 *
 * @param zone of dates, and of date-times without an offset
 * @throws ServiceError `invalidArgument`; the message names the parameter, the received value and
 *   what is expected
 */
export function parsePeriod(startDate: string, endDate: string, zone = UTC): RequestedPeriod {
  const firstOf = (day: DayNumber) => startOfDay(day, zone);
  const lastOf = (day: DayNumber) => startOfDay(day + 1, zone) - 1;
  const start = startDate ? parseInstant("startDate", startDate, zone, firstOf) : undefined;
  const end = endDate ? parseInstant("endDate", endDate, zone, lastOf) : undefined;
  if (start !== undefined && end !== undefined) checkOrder({ start, end }, { start, end });
  return { start, end };
}

/** The texts of a requested period that stand for its meaning: what must be the same from page to page. */
export function periodTexts({ start, end }: RequestedPeriod) {
  return { startDate: String(start ?? ""), endDate: String(end ?? "") };
}

/** The period of these texts, where both ends are known. */
export function fromPeriodTexts(startDate: string, endDate: string): Period {
  return { start: Number(startDate), end: Number(endDate) };
}

/**
 * Completes a period: the end defaults to `now` (epoch ms), the start to 30 days before `now`.
 *
 * @throws ServiceError `invalidArgument` if that leaves the start after the end
 */
export function completePeriod(
  requested: RequestedPeriod,
  now: number,
  defaultStart = now - DEFAULT_LENGTH,
): Period {
  const { start = defaultStart, end = now } = requested;
  checkOrder({ start, end }, requested);
  return { start, end };
}

/**
 * The period that the first page of a list fixes: up to `now`, unless it begins later.
 *
 * @throws ServiceError as `completePeriod`
 */
export function fixPeriod(requested: RequestedPeriod, now: number): Period {
  const { start, end } = completePeriod(requested, now);
  return { start, end: start > now ? end : Math.min(end, now) };
}

function checkOrder({ start, end }: Period, requested: RequestedPeriod): void {
  if (start <= end) return;
  const [from, to] = [toIso(start), toIso(end)];
  throw new ServiceError(
    "invalidArgument",
    requested.start !== undefined
      ? `startDate: expected an instant at or before endDate (${requested.end !== undefined ? to : `now, ${to}`}), got ${from}`
      : `startDate: required because the default, 30 days before now (${from}), is after endDate (${to})`,
    { field: "startDate" },
  );
}

/**
 * ISO 8601 calendar date in the extended format, alone or with a time of day. Seconds, fraction
 * and offset are optional.
 */
const FORMAT =
  /^(?<date>\d{4}-\d{2}-\d{2})(?:[Tt](?<time>\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)(?<offset>[Zz]|[+\- −]\d{2}(?::?\d{2})?)?)?$/;
/** Stricter than Temporal, which accepts a leap second. */
const TIME = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d|$)/;
const OFFSET = /^(Z|[+-]([01]\d|2[0-3])(:?[0-5]\d)?)$/i;

/**
 * Parses a date or date-time to epoch ms. Digits after the milliseconds are truncated.
 *
 * @param ofDay the instant that a day without a time stands for
 */
function parseInstant(
  parameter: string,
  text: string,
  zone: string,
  ofDay: (day: DayNumber) => number,
): number {
  const { date, time, offset: rawOffset } = FORMAT.exec(text)?.groups ?? {};
  if (date === undefined) throw invalid(parameter, text);
  if (!isDay(date)) throw invalid(parameter, text, `${date} is not a day of the calendar`);
  if (time === undefined) {
    const day = dayOfDate(date);
    if (!hasDay(day, zone)) throw invalid(parameter, text, `${zone} has no ${date}`);
    return checkYear(parameter, text, ofDay(day));
  }
  // A "+" that is not percent-encoded in a query string is decoded as a space. "−" is U+2212.
  const offset = rawOffset?.replace(" ", "+").replace("−", "-");
  if (!TIME.test(time)) throw invalid(parameter, text, "the time must be 00:00:00 to 23:59:59");
  if (offset !== undefined && !OFFSET.test(offset)) {
    throw invalid(parameter, text, "the offset must be -23:59 to +23:59");
  }
  const local = `${date}T${time.slice(0, "00:00:00.000".length)}`;
  const instant =
    offset === undefined
      ? instantAt(local, zone)
      : Temporal.Instant.from(local + offset).epochMilliseconds;
  return checkYear(parameter, text, instant);
}

function checkYear(parameter: string, text: string, instant: number): number {
  if (instant >= EARLIEST && instant <= LATEST) return instant;
  throw invalid(parameter, text, "the year must be 0001 to 9999, in UTC");
}

/** Whether a day exists, YYYY-MM-DD: of a 30th of February comes 2 March, and of a month 13 nothing. */
const isDay = (date: string) => new Date(`${date}T00:00Z`).toJSON()?.startsWith(date) === true;

function invalid(parameter: string, text: string, reason?: string): ServiceError {
  return new ServiceError(
    "invalidArgument",
    `${parameter}: expected an ISO 8601 date or date-time such as 2026-11-20 or 2026-11-20T09:30:00Z, got ${quote(text)}${reason ? ` (${reason})` : ""}`,
    { field: parameter },
  );
}

function toIso(instant: number): string {
  return new Date(instant).toISOString();
}
