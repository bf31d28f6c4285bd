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
import type { Answer, Context } from "../../handler.ts";
import { readFacts } from "../../rollup/read/facts.ts";
import { money } from "../message.ts";
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
import {
  fixPeriod,
  fromPeriodTexts,
  includingEarlier,
  type Period,
  parsePeriod,
  periodTexts,
  type RequestedPeriod,
} from "../period.ts";
import { parseTimeZone } from "../time-zone.ts";
import { chargesOfDefault, chargesOfMaximum } from "./queries.ts";

/** Where a page begins, of which period. */
interface Beginning {
  readonly period: Period;
  readonly place: Place;
}

/**
 * Creates the RPC's function. It rejects with a `ServiceError`: `invalidArgument` for an invalid period, zone, page
 * size or page token, otherwise as `Read` does.
 */
export function createListCharges(read: Read, tokens: PageTokens) {
  return async (
    { startDate, endDate, timeZone: zone, pageSize, pageToken }: ListChargesRequest,
    { caller: { providerId: provider, share }, signal }: Context,
  ): Promise<Answer<ListChargesResponse>> => {
    const timeZone = parseTimeZone(zone);
    const requested = parsePeriod(startDate, endDate, timeZone);
    const size = pageSizeOf(pageSize);
    const parameters = { ...periodTexts(requested), timeZone };
    const paged = { list: "charges", owner: provider, parameters };
    const later = pageToken === "" ? undefined : beginningOf(tokens.read(pageToken, paged));
    const statement = size <= DEFAULT_SIZE ? chargesOfDefault : chargesOfMaximum;
    const { period, rows, asOf } = await read(
      async ({ query }) => {
        const { now } = later === undefined ? await readFacts(query, provider) : { now: Infinity };
        const { period, place } = later ?? firstPage(requested, now);
        const start = includingEarlier(toDatetime(period.start));
        const values = { provider, start, ...parametersOf(place) };
        const { rows, asOf } = await statement.run(query, values);
        return { period, rows, asOf: Math.min(asOf, now) };
      },
      { owner: share, signal },
    );
    const { page, next } = pageOf(rows.page, size);
    const fixed = Object.values(periodTexts(period));
    const nextPageToken =
      next === undefined ? "" : tokens.write(paged, [...fixed, next.at, next.id]);
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

function firstPage(requested: RequestedPeriod, now: number): Beginning {
  const period = fixPeriod(requested, now);
  return { period, place: placeAfter(Math.min(period.end, now)) };
}

function beginningOf([start = "", end = "", at = "", id = ""]: readonly string[]): Beginning {
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
