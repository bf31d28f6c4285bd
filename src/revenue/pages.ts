/**
 * Pages of lists of rows with a time and an id, newest first: their sizes, the places where they begin, and what of
 * a table they read. The clustered key has the rows of a provider in this order.
 */
import type { ListPayoutsRequest } from "../../gen/revenue/v1/revenue_pb.ts";
import { instantOf, LAST_INSTANT, LATEST, toBoundary, toDatetime } from "../db/datetime.ts";
import { BEFORE_ALL, instant } from "../db/sql-time.ts";
import { ServiceError } from "../errors.ts";
import type { PageTokens } from "./page-token.ts";
import { parsePeriod, periodTexts } from "./period.ts";
import { parseTimeZone } from "./time-zone.ts";

/** The number of rows in a page by default, where a list says no other, and the most. */
export const DEFAULT_SIZE = 50;
export const MAX_SIZE = 1_000;

/**
 * The size of a page, of what was asked for.
 *
 * @throws ServiceError `invalidArgument` if that is negative
 */
function pageSizeOf(requested: number, byDefault: number): number {
  if (requested >= 0) return Math.min(requested || byDefault, MAX_SIZE);
  throw new ServiceError(
    "invalidArgument",
    `pageSize: expected 0 (the default, ${byDefault}) or more, got ${requested}`,
    { field: "pageSize" },
  );
}

/** What a request for a page gives, in each list. */
type PageRequest = Omit<ListPayoutsRequest, "$typeName" | "$unknown">;

/**
 * Parses a request for a page of a list.
 *
 * @param owner whose list it is: a provider, or whoever else has one
 * @returns `contents` of the token, undefined for a first page; and what a response says of the next page, given the
 *   contents of its token, undefined if there is none. CSV has no other place for the token than metadata
 * @throws ServiceError `invalidArgument` for an invalid period, zone, page size or page token
 */
export function parsePage(
  request: PageRequest,
  list: string,
  owner: string,
  tokens: PageTokens,
  defaultSize = DEFAULT_SIZE,
) {
  const timeZone = parseTimeZone(request.timeZone);
  const requested = parsePeriod(request.startDate, request.endDate, timeZone);
  const size = pageSizeOf(request.pageSize, defaultSize);
  const paged = { list, owner, parameters: { ...periodTexts(requested), timeZone } };
  const { pageToken } = request;
  const contents = pageToken === "" ? undefined : tokens.read(pageToken, paged);
  const tokenOf = (next?: readonly string[]) => (next ? tokens.write(paged, next) : "");
  return { timeZone, requested, size, contents, tokenOf };
}

/** A place between two rows. Those with an earlier time, and those with this one and a smaller id, come after it. */
export interface Place {
  /** DATETIME(3) text, of which the date need not exist. */
  readonly at: string;
  readonly id: string;
}

/** The digits of the greatest id. All places have as many, so that the length of a token says nothing of its row. */
const ID_DIGITS = 20;

/** The place after which everything comes up to an instant (epoch ms), inclusive. */
export function placeAfter(end: number): Place {
  if (end < LATEST) return { at: toDatetime(end + 1), id: "0" };
  return { at: LAST_INSTANT, id: "9".repeat(ID_DIGITS) };
}

/** SQL: a parameter that is an id. As `UNSIGNED` MySQL takes a text from 2^63 on for 2^63 - 1, where it looks for a range. */
export const idOf = (parameter: string): string => `CAST(${parameter} AS DECIMAL(20,0))`;

/** The parameters of a place, for `rowsAfter`. */
export function parametersOf({ at, id }: Place) {
  const exists = at === BEFORE_ALL || toDatetime(instantOf(at)) === at;
  // Nothing is equal to a date that does not exist: its rows are among those before the next instant that does.
  const before = exists ? at : toBoundary(instantOf(at) + 1);
  return { at: exists ? at : "", before, place: at, id };
}

/**
 * What follows FROM for up to `limit` rows after a place, and not before `:start`, as `page`: those at the same
 * instant, and the earlier ones. To the database these are two ranges of the clustered key, which it reads from their
 * ends until it has the limit. With `id` in a condition of both, every page would read again all rows of the instant
 * that it begins in. The hint is for MySQL, which would rather sort all rows of a provider than read a page of 1,000
 * from the key that has their order; a view has no key, and takes it as a comment.
 *
 * @param time the column of the time
 */
export function rowsAfter(
  table: string,
  columns: readonly string[],
  time: string,
  limit: number,
): string {
  /** Its order is that of the times, also of dates that do not exist. */
  const text = `CAST(${time} AS CHAR)`;
  const id = idOf(":id");
  return `(SELECT /*+ INDEX(${table} PRIMARY) */ ${columns.join(", ")} FROM ${table} WHERE provider_id = :provider
      AND (${time} = ${instant(":at")} AND id < ${id}
        OR ${time} >= ${instant(":start")} AND ${time} < ${instant(":before")}
          AND (${text} < :place OR ${text} = :place AND id < ${id}))
    ORDER BY ${time} DESC, id DESC LIMIT ${limit}) AS page`;
}

/** What every listed row has: its time as DATETIME(3) text, and its id. */
interface ListedRow {
  readonly at: string;
  readonly order: string;
}

/** The order of lists, for `sort`. SQL promises none for a part of a UNION. */
export function newestFirst(one: ListedRow, other: ListedRow): number {
  if (one.at !== other.at) return one.at > other.at ? -1 : 1;
  return BigInt(one.order) > BigInt(other.order) ? -1 : 1;
}

/** A page, and the place where the next one begins; undefined if there is none. */
export function pageOf<Row extends ListedRow>(rows: readonly Row[], size: number) {
  const sorted = rows.toSorted(newestFirst);
  const page = sorted.slice(0, size);
  const last = page.at(-1);
  const next: Place | undefined =
    last && sorted.length > size
      ? { at: last.at, id: last.order.padStart(ID_DIGITS, "0") }
      : undefined;
  return { page, next };
}

/** The metadata of a page with a token: CSV has no other place for it. */
export function pageMetadata(nextPageToken: string) {
  return nextPageToken === "" ? {} : { metadata: { "next-page-token": nextPageToken } };
}
