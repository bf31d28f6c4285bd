/** ListPayouts: the payouts of a period, newest first, in pages. */
import type {
  ListPayoutsRequest,
  ListPayoutsResponse,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { instantOf, LAST_INSTANT, toBoundary, toDatetime } from "../../db/datetime.ts";
import type { Read } from "../../db/query.ts";
import { BEFORE_ALL } from "../../db/sql-time.ts";
import { ServiceError } from "../../errors.ts";
import type { Answer, Context } from "../../handler.ts";
import { quote } from "../../quote.ts";
import { includingEarlier, parsePeriod } from "../period.ts";
import { BEFORE_FIRST, fromPageToken, type Position, toPageToken } from "./page-token.ts";
import { latestFirst, payout } from "./payout.ts";
import { DEFAULT_SIZE, MAX_SIZE, payoutsOfDefault, payoutsOfMaximum } from "./queries.ts";

/**
 * Creates the RPC's function. It rejects with a `ServiceError`: `invalidArgument` for an invalid period, page
 * size or page token, otherwise as `Read` does.
 */
export function createListPayouts(read: Read) {
  return async (
    { startDate, endDate, pageSize, pageToken }: ListPayoutsRequest,
    { caller: { providerId: provider }, signal }: Context,
  ): Promise<Answer<ListPayoutsResponse>> => {
    const requested = parsePeriod(startDate, endDate);
    const start =
      requested.start === undefined ? "" : includingEarlier(toDatetime(requested.start));
    const end = requested.end === undefined ? LAST_INSTANT : toBoundary(requested.end);
    const size = sizeOf(pageSize);
    const parameters = `${provider} ${start} ${end}`;
    const { at, id } = pageToken === "" ? BEFORE_FIRST : positionOf(pageToken, parameters);
    const values = {
      provider,
      start: start || BEFORE_ALL,
      end,
      upTo: toBoundary(instantOf(at) + 1),
      at,
      id,
    };
    const statement = size <= DEFAULT_SIZE ? payoutsOfDefault : payoutsOfMaximum;
    const { rows, asOf } = await read(({ query }) => statement.run(query, values), {
      owner: provider,
      signal,
    });
    const payouts = rows.payouts.toSorted(latestFirst);
    const page = payouts.slice(0, size);
    const last = page.at(-1);
    const hasNext = last !== undefined && payouts.length > size;
    const nextPageToken = hasNext
      ? toPageToken({ at: last.paidAt, id: last.order }, parameters)
      : "";
    const message: ListPayoutsResponse = {
      $typeName: "revenue.v1.ListPayoutsResponse",
      payouts: page.map(payout),
      nextPageToken,
    };
    // CSV has no other place for it.
    return { message, asOf, ...(hasNext && { metadata: { "next-page-token": nextPageToken } }) };
  };
}

function sizeOf(requested: number): number {
  if (requested < 0) {
    throw new ServiceError(
      "invalidArgument",
      `pageSize: expected 0 (the default, ${DEFAULT_SIZE}) or more, got ${requested}`,
      { field: "pageSize" },
    );
  }
  return Math.min(requested || DEFAULT_SIZE, MAX_SIZE);
}

function positionOf(token: string, parameters: string): Position {
  const position = fromPageToken(token, parameters);
  if (position !== undefined) return position;
  throw new ServiceError(
    "invalidArgument",
    `pageToken: expected the nextPageToken of a response to the same startDate and endDate, got ${quote(token)}`,
    { field: "pageToken" },
  );
}
