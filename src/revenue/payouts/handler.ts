/** ListPayouts: the payouts of a period, newest first, in pages. */
import type {
  ListPayoutsRequest,
  ListPayoutsResponse,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { LATEST, toDatetime } from "../../db/datetime.ts";
import type { Read } from "../../db/query.ts";
import { BEFORE_ALL } from "../../db/sql-time.ts";
import type { Context } from "../../handler.ts";
import { includingEarlier } from "../../rollup/read/boundaries.ts";
import type { PageTokens } from "../page-token.ts";
import {
  DEFAULT_SIZE,
  pageMetadata,
  pageOf,
  parametersOf,
  parsePage,
  placeAfter,
} from "../pages.ts";
import { payout } from "./payout.ts";
import { payoutsOfDefault, payoutsOfMaximum } from "./queries.ts";

/**
 * Creates the RPC's function. It rejects with a `ServiceError`: `invalidArgument` for an invalid period, zone,
 * page size or page token, otherwise as `Read` does.
 */
export function createListPayouts(read: Read, tokens: PageTokens) {
  return async (request: ListPayoutsRequest, { caller, signal }: Context) => {
    const { providerId: provider, share: owner } = caller;
    const { requested, size, contents, tokenOf } = parsePage(request, "payouts", provider, tokens);
    const { start, end = LATEST } = requested;
    const [at = "", id = ""] = contents ?? [];
    const values = {
      provider,
      start: start === undefined ? BEFORE_ALL : includingEarlier(toDatetime(start)),
      ...parametersOf(contents === undefined ? placeAfter(end) : { at, id }),
    };
    const statement = size <= DEFAULT_SIZE ? payoutsOfDefault : payoutsOfMaximum;
    const options = { owner, signal };
    const { rows, asOf } = await read(({ query }) => statement.run(query, values), options);
    const { page, next } = pageOf(rows.page, size);
    const nextPageToken = tokenOf(next && [next.at, next.id]);
    const message: ListPayoutsResponse = {
      $typeName: "revenue.v1.ListPayoutsResponse",
      payouts: page.map(payout),
      nextPageToken,
    };
    return { message, asOf, ...pageMetadata(nextPageToken) };
  };
}
