/** ListPayouts: the payouts of a period, newest first, in pages. */
import type {
  ListPayoutsRequest,
  ListPayoutsResponse,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { LATEST, toDatetime } from "../../db/datetime.ts";
import type { Read } from "../../db/query.ts";
import { BEFORE_ALL } from "../../db/sql-time.ts";
import type { Answer, Context } from "../../handler.ts";
import type { PageTokens } from "../page-token.ts";
import {
  DEFAULT_SIZE,
  type Place,
  pageMetadata,
  pageOf,
  pageSizeOf,
  parametersOf,
  placeAfter,
} from "../pages.ts";
import { includingEarlier, parsePeriod, periodTexts } from "../period.ts";
import { parseTimeZone } from "../time-zone.ts";
import { payout } from "./payout.ts";
import { payoutsOfDefault, payoutsOfMaximum } from "./queries.ts";

/**
 * Creates the RPC's function. It rejects with a `ServiceError`: `invalidArgument` for an invalid period, zone,
 * page size or page token, otherwise as `Read` does.
 */
export function createListPayouts(read: Read, tokens: PageTokens) {
  return async (
    { startDate, endDate, timeZone: zone, pageSize, pageToken }: ListPayoutsRequest,
    { caller: { providerId: provider, share }, signal }: Context,
  ): Promise<Answer<ListPayoutsResponse>> => {
    const timeZone = parseTimeZone(zone);
    const requested = parsePeriod(startDate, endDate, timeZone);
    const { start, end = LATEST } = requested;
    const size = pageSizeOf(pageSize);
    const parameters = { ...periodTexts(requested), timeZone };
    const paged = { list: "payouts", owner: provider, parameters };
    const placeOf = (token: string): Place => {
      const [at = "", id = ""] = tokens.read(token, paged);
      return { at, id };
    };
    const values = {
      provider,
      start: start === undefined ? BEFORE_ALL : includingEarlier(toDatetime(start)),
      ...parametersOf(pageToken === "" ? placeAfter(end) : placeOf(pageToken)),
    };
    const statement = size <= DEFAULT_SIZE ? payoutsOfDefault : payoutsOfMaximum;
    const { rows, asOf } = await read(({ query }) => statement.run(query, values), {
      owner: share,
      signal,
    });
    const { page, next } = pageOf(rows.page, size);
    const nextPageToken = next === undefined ? "" : tokens.write(paged, [next.at, next.id]);
    const message: ListPayoutsResponse = {
      $typeName: "revenue.v1.ListPayoutsResponse",
      payouts: page.map(payout),
      nextPageToken,
    };
    return { message, asOf, ...pageMetadata(nextPageToken) };
  };
}
