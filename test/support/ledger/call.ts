/** Calls the service's functions directly, without a protocol, and returns the responses as protobuf JSON. */
import { AsyncLocalStorage } from "node:async_hooks";
import {
  create,
  type DescMessage,
  type JsonValue,
  type MessageShape,
  toJson,
} from "@bufbuild/protobuf";
import {
  type ListProviderRevenueRequest,
  ListProviderRevenueRequestSchema,
  ListProviderRevenueResponseSchema,
} from "../../../gen/revenue/v1/platform_pb.ts";
import {
  GetDailyRevenueRequestSchema,
  GetDailyRevenueResponseSchema,
  GetOverviewRequestSchema,
  GetOverviewResponseSchema,
  GetServerBreakdownRequestSchema,
  GetServerBreakdownResponseSchema,
  type ListChargesRequest,
  ListChargesRequestSchema,
  ListChargesResponseSchema,
  type ListPayoutsRequest,
  ListPayoutsRequestSchema,
  ListPayoutsResponseSchema,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { toDatetime } from "../../../src/db/datetime.ts";
import type { Query, Read, Row } from "../../../src/db/query.ts";
import { isSnapshot } from "../../../src/db/statement.ts";
import { ServiceError } from "../../../src/errors.ts";
import type { Answer, Context } from "../../../src/handler.ts";
import { providersAfter } from "../../../src/revenue/platform/queries.ts";
import type { RevenueFunctions } from "../../../src/revenue/service.ts";
import { factsStatement } from "../../../src/rollup/read/facts.ts";

/** The time of the call that is being made, as DATETIME(3) text. */
const timeOfCall = new AsyncLocalStorage<string>();

/** The place of the instant, and of the first and the last column of the rollup, in the row of facts. */
const [, , FACT_NOW, FIRST_OF_ROLLUP] = [0, 1, 2, 3];
const WATERMARK = FIRST_OF_ROLLUP + 1;

/**
 * A `Read` whose facts, and whose lists of providers, have the time of the call as *now*, or a fixed one
 * (DATETIME(3) text). A rollup whose
 * watermark is ahead of that is none, as for the database.
 */
export const atTimeOfCall = (read: Read, time?: string): Read => {
  const timeOf = () => time ?? timeOfCall.getStore() ?? "";
  const atTime = (rows: Row[]): Row[] => {
    const now = timeOf();
    return rows.map((row) => {
      const isAhead = (row[WATERMARK] ?? "") > now;
      return row.map((text, nth) => {
        if (nth === FACT_NOW) return now;
        return isAhead && nth >= FIRST_OF_ROLLUP ? null : text;
      });
    });
  };
  return (work, options) =>
    read((session) => {
      const query: Query = async (sql, ...rest) => {
        const rows = await session.query(sql, ...rest);
        if (sql === providersAfter.sql)
          return rows.map((row) => (isSnapshot(row) ? [row[0] ?? null, timeOf()] : row));
        return sql === factsStatement.sql ? atTime(rows) : rows;
      };
      return work({ ...session, query });
    }, options);
};

/** Makes a call at a time (ISO 8601), for `atTimeOfCall`. */
export const callAt = <T>(time: string, call: () => T): T =>
  timeOfCall.run(toDatetime(Date.parse(time)), call);

/** Each calls a function of the service for a provider at `now` (ISO 8601). Dates are the request's texts. */
export function overviewOf(service: RevenueFunctions, provider: bigint, now: string) {
  return responseOf(GetOverviewResponseSchema, provider, now, (context) =>
    service.getOverview(create(GetOverviewRequestSchema), context),
  );
}

type PeriodCall = [
  ...[service: RevenueFunctions, provider: bigint, now: string],
  ...[startDate: string, endDate: string, timeZone?: string],
];

export function breakdownOf(
  ...[service, provider, now, startDate, endDate, timeZone = ""]: PeriodCall
) {
  const request = create(GetServerBreakdownRequestSchema, { startDate, endDate, timeZone });
  return responseOf(GetServerBreakdownResponseSchema, provider, now, (context) =>
    service.getServerBreakdown(request, context),
  );
}

/** Resolves to the message of the error if the request is refused. */
export function dailyOf(
  ...[service, provider, now, startDate, endDate, timeZone = ""]: PeriodCall
) {
  const request = create(GetDailyRevenueRequestSchema, { startDate, endDate, timeZone });
  return responseOf(GetDailyRevenueResponseSchema, provider, now, (context) =>
    service.getDailyRevenue(request, context),
  ).catch(messageIfRefused);
}

/** A page of payouts. Resolves to the message of the error if the request is refused. */
export function payoutsOf(
  service: RevenueFunctions,
  provider: bigint,
  request: Partial<Omit<ListPayoutsRequest, "$typeName">>,
  now = "2026-11-20T09:30:00.000Z",
) {
  const message = create(ListPayoutsRequestSchema, request);
  return responseOf(ListPayoutsResponseSchema, provider, now, (context) =>
    service.listPayouts(message, context),
  ).catch(messageIfRefused);
}

/** A page of charges. Resolves to the message of the error if the request is refused. */
export function chargesOf(
  service: RevenueFunctions,
  provider: bigint,
  request: Partial<Omit<ListChargesRequest, "$typeName">>,
  now = "2026-11-20T09:30:00.000Z",
) {
  const message = create(ListChargesRequestSchema, request);
  return responseOf(ListChargesResponseSchema, provider, now, (context) =>
    service.listCharges(message, context),
  ).catch(messageIfRefused);
}

/** A page of providers. Resolves to the message of the error if the request is refused. */
export function providersOf(
  service: RevenueFunctions,
  request: Partial<Omit<ListProviderRevenueRequest, "$typeName">>,
  now = "2026-11-20T09:30:00.000Z",
) {
  const message = create(ListProviderRevenueRequestSchema, request);
  return responseOf(ListProviderRevenueResponseSchema, 0n, now, ({ signal }) =>
    service.listProviderRevenue(message, { signal, deadline: performance.now() + 3_600_000 }),
  ).catch(messageIfRefused);
}

function messageIfRefused(error: unknown): JsonValue {
  if (error instanceof ServiceError && error.kind === "invalidArgument") return error.message;
  throw error;
}

async function responseOf<Schema extends DescMessage>(
  schema: Schema,
  provider: bigint,
  now: string,
  call: (context: Context) => Promise<Answer<MessageShape<Schema>>>,
): Promise<JsonValue> {
  const context: Context = {
    caller: { providerId: String(provider) },
    signal: new AbortController().signal,
  };
  const { message } = await callAt(now, () => call(context));
  return toJson(schema, message, { alwaysEmitImplicit: true });
}
