/** ListCharges: the charges of a period, newest first, in pages. */
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  Charge,
  ListChargesRequest,
  ListChargesResponse,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { parseCents } from "../../db/cents.ts";
import { instantOf, toDatetime } from "../../db/datetime.ts";
import type { Read } from "../../db/query.ts";
import type { Context } from "../../handler.ts";
import { includingEarlier } from "../../rollup/read/boundaries.ts";
import { readFacts } from "../../rollup/read/facts.ts";
import { money } from "../message.ts";
import type { PageTokens } from "../page-token.ts";
import {
  DEFAULT_SIZE,
  pageMetadata,
  pageOf,
  parametersOf,
  parsePage,
  placeAfter,
} from "../pages.ts";
import { fixPeriod, fromPeriodTexts, periodTexts, type RequestedPeriod } from "../period.ts";
import { chargesOfDefault, chargesOfMaximum } from "./queries.ts";

/**
 * Creates the RPC's function. It rejects with a `ServiceError`: `invalidArgument` for an invalid period, zone, page
 * size or page token, otherwise as `Read` does.
 */
export function createListCharges(read: Read, tokens: PageTokens) {
  return async (request: ListChargesRequest, { caller, signal }: Context) => {
    const { providerId: provider, share: owner } = caller;
    const asked = parsePage(request, "charges", provider, tokens);
    const { timeZone, size } = asked;
    const later = asked.contents && beginningOf(asked.contents);
    const statement = size <= DEFAULT_SIZE ? chargesOfDefault : chargesOfMaximum;
    const { period, rows, asOf } = await read(
      async ({ query }) => {
        const { now } = later === undefined ? await readFacts(query, provider) : { now: Infinity };
        const { period, place } = later ?? firstPage(asked.requested, now);
        const start = includingEarlier(toDatetime(period.start));
        const values = { provider, start, ...parametersOf(place) };
        const { rows, asOf } = await statement.run(query, values);
        return { period, rows, asOf: Math.min(asOf, now) };
      },
      { owner, signal },
    );
    const { page, next } = pageOf(rows.page, size);
    const fixed = Object.values(periodTexts(period));
    const nextPageToken = asked.tokenOf(next && [...fixed, next.at, next.id]);
    const message: ListChargesResponse = {
      $typeName: "revenue.v1.ListChargesResponse",
      charges: page.map(charge),
      nextPageToken,
      startDate: timestampFromMs(period.start),
      endDate: timestampFromMs(period.end),
      timeZone,
    };
    return { message, asOf, ...pageMetadata(nextPageToken) };
  };
}

/** Where a page begins, of which period: the first one, and a later one, given the contents of its token. */
function firstPage(requested: RequestedPeriod, now: number) {
  const period = fixPeriod(requested, now);
  return { period, place: placeAfter(Math.min(period.end, now)) };
}

function beginningOf([start = "", end = "", at = "", id = ""]: readonly string[]) {
  return { period: fromPeriodTexts(start, end), place: { at, id } };
}

type ChargeRow = Awaited<ReturnType<typeof chargesOfDefault.run>>["rows"]["page"][number];

function charge(row: ChargeRow): Charge {
  return {
    $typeName: "revenue.v1.Charge",
    chargeId: row.publicId,
    chargeTime: timestampFromMs(instantOf(row.at)),
    recordedTime: timestampFromMs(instantOf(row.recordedAt)),
    serverId: row.server,
    serverName: row.serverName,
    instanceId: row.instance,
    instanceName: row.instanceName,
    amount: money(parseCents(row.gross)),
  };
}
