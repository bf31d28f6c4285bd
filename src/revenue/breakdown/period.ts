/**
 * The period of a breakdown: the text of `startDate` and `endDate` becomes two
 * instants once, here, so that gRPC and REST agree on every form of it.
 */
import { ServiceError } from "../../errors.ts";

/** Both ends inclusive, in epoch ms; the start is never after the end. */
export interface Period {
  readonly start: number;
  readonly end: number;
}

const DAY = 86_400_000;
/** How far back the period starts where nothing else is asked for (spec, section 4.2). */
const DEFAULT_DAYS = 30;

/**
 * Parses the two ends of a period; an empty text is an omitted one. Without an end, it
 * is `now`; without a start, it is 30 days before `now` (epoch ms).
 *
 * @throws ServiceError `invalidArgument`, whose message names the parameter, what came and what is right
 */
export function parsePeriod(startDate: string, endDate: string, now: number): Period {
  const start = startDate === "" ? now - DEFAULT_DAYS * DAY : parseEnd("startDate", startDate, 0);
  const end = endDate === "" ? now : parseEnd("endDate", endDate, DAY - 1);
  if (start <= end) return { start, end };
  const [from, to] = [text(start), text(end)];
  if (startDate === "") {
    throw new ServiceError(
      "invalidArgument",
      `startDate is needed: without it the period starts 30 days before now, at ${from}, which is after endDate, ${to}`,
    );
  }
  throw new ServiceError(
    "invalidArgument",
    `startDate must not be after endDate: startDate is ${from}, ${
      endDate === "" ? "and without endDate the period ends now, at" : "endDate is"
    } ${to}`,
  );
}

const FORM =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?:([Zz])|([+\- −])(\d{2})(?::?(\d{2}))?)?)?$/;

/**
 * Parses an ISO 8601 date or date-time (calendar dates in the extended format, as RFC 3339
 * narrows it; seconds, fraction and offset may be left out). Digits below the
 * millisecond are cut off.
 *
 * @param sinceMidnight where in its day a date without a time stands, in ms
 */
function parseEnd(parameter: string, came: string, sinceMidnight: number): number {
  const fields = FORM.exec(came);
  if (!fields) throw malformed(parameter, came);
  const [, year, month, day, hour, minute, second, fraction, , sign, offsetHour, offsetMinute] =
    fields;
  const midnight = utcMidnight(Number(year), Number(month), Number(day));
  if (midnight === undefined) {
    throw malformed(parameter, came, `there is no day ${year}-${month}-${day}`);
  }
  if (hour === undefined) return within(parameter, came, midnight + sinceMidnight);
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second ?? 0) > 59) {
    throw malformed(parameter, came, "a day's time goes from 00:00:00 to 23:59:59");
  }
  if (Number(offsetHour ?? 0) > 23 || Number(offsetMinute ?? 0) > 59) {
    throw malformed(parameter, came, "an offset goes from -23:59 to +23:59");
  }
  const time =
    Number(hour) * 3_600_000 +
    Number(minute) * 60_000 +
    Number(second ?? 0) * 1_000 +
    Number((fraction ?? "").slice(0, 3).padEnd(3, "0"));
  const offset = Number(offsetHour ?? 0) * 3_600_000 + Number(offsetMinute ?? 0) * 60_000;
  // A "+" in a query string arrives as a space; both mean east of Greenwich.
  const east = sign === "+" || sign === " ";
  return within(parameter, came, midnight + time - (east ? offset : -offset));
}

/** The first instant of a calendar day in epoch ms; undefined where there is no such day. */
function utcMidnight(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : undefined;
}

const EARLIEST = Date.parse("0001-01-01T00:00:00Z");
const LATEST = Date.parse("9999-12-31T23:59:59.999Z");

/** The instant, if a protobuf Timestamp can carry it: years 1 to 9999. */
function within(parameter: string, came: string, instant: number): number {
  if (instant < EARLIEST || instant > LATEST) {
    throw malformed(parameter, came, "the years go from 0001 to 9999, in UTC");
  }
  return instant;
}

function malformed(parameter: string, came: string, why?: string): ServiceError {
  const shown = came.length > 40 ? `${came.slice(0, 40)}…` : came;
  return new ServiceError(
    "invalidArgument",
    `${parameter} is ${JSON.stringify(shown)}${why ? ` (${why})` : ""}; it should be an ISO 8601 date or date-time, like 2026-11-20 or 2026-11-20T09:30:00Z`,
  );
}

function text(instant: number): string {
  return new Date(instant).toISOString();
}
