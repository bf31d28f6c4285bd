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
  GetDailyRevenueRequestSchema,
  GetDailyRevenueResponseSchema,
  GetOverviewRequestSchema,
  GetOverviewResponseSchema,
  GetServerBreakdownRequestSchema,
  GetServerBreakdownResponseSchema,
  type ListPayoutsRequest,
  ListPayoutsRequestSchema,
  ListPayoutsResponseSchema,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { toDatetime } from "../../../src/db/datetime.ts";
import type { Read } from "../../../src/db/query.ts";
import { ServiceError } from "../../../src/errors.ts";
import type { Answer, Context } from "../../../src/handler.ts";
import type { RevenueFunctions } from "../../../src/revenue/service.ts";

/** The time of the call that is being made, as DATETIME(3) text. */
const timeOfCall = new AsyncLocalStorage<string>();

/** A `Read` whose database has the time of the call, or a fixed one (DATETIME(3) text). */
export const atTimeOfCall =
  (read: Read, time?: string): Read =>
  (sql, ...rest) => {
    const now = `TIMESTAMP'${time ?? timeOfCall.getStore()}'`;
    return read(sql.replaceAll("UTC_TIMESTAMP(3)", now), ...rest);
  };

/** Makes a call at a time (ISO 8601), for `atTimeOfCall`. */
export const callAt = <T>(time: string, call: () => T): T =>
  timeOfCall.run(toDatetime(Date.parse(time)), call);

/**
 * Each calls a function of the service for a provider at `now` (ISO 8601), on a host whose clock is
 * ahead of that by some ms. Dates are the request's texts.
 */
export function overviewOf(service: RevenueFunctions, provider: bigint, now: string, ahead = 0) {
  return responseOf(GetOverviewResponseSchema, provider, now, ahead, (context) =>
    service.getOverview(create(GetOverviewRequestSchema), context),
  );
}

type PeriodCall = [
  ...[service: RevenueFunctions, provider: bigint, now: string],
  ...[startDate: string, endDate: string, ahead?: number, timeZone?: string],
];

export function breakdownOf(
  ...[service, provider, now, startDate, endDate, ahead, timeZone = ""]: PeriodCall
) {
  const request = create(GetServerBreakdownRequestSchema, { startDate, endDate, timeZone });
  return responseOf(GetServerBreakdownResponseSchema, provider, now, ahead, (context) =>
    service.getServerBreakdown(request, context),
  );
}

/** Resolves to the message of the error if the request is refused. */
export function dailyOf(
  ...[service, provider, now, startDate, endDate, ahead, timeZone = ""]: PeriodCall
) {
  const request = create(GetDailyRevenueRequestSchema, { startDate, endDate, timeZone });
  return responseOf(GetDailyRevenueResponseSchema, provider, now, ahead, (context) =>
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
  return responseOf(ListPayoutsResponseSchema, provider, now, 0, (context) =>
    service.listPayouts(message, context),
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
  ahead = 0,
  call: (context: Context) => Promise<Answer<MessageShape<Schema>>>,
): Promise<JsonValue> {
  const context: Context = {
    caller: { providerId: String(provider) },
    now: Date.parse(now) + ahead,
    signal: new AbortController().signal,
  };
  const { message } = await callAt(now, () => call(context));
  return toJson(schema, message, { alwaysEmitImplicit: true });
}
