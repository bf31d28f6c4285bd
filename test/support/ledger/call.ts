/** Calls the service's functions directly, without a protocol, and returns the responses as protobuf JSON. */
import { AsyncLocalStorage } from "node:async_hooks";
import { create, type JsonValue, toJson } from "@bufbuild/protobuf";
import {
  GetOverviewRequestSchema,
  GetOverviewResponseSchema,
  GetServerBreakdownRequestSchema,
  GetServerBreakdownResponseSchema,
  ListDailyRevenueRequestSchema,
  ListDailyRevenueResponseSchema,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { toDatetime } from "../../../src/db/datetime.ts";
import type { Read } from "../../../src/db/query.ts";
import { ServiceError } from "../../../src/errors.ts";
import type { Context } from "../../../src/handler.ts";
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

const OPTIONS = { alwaysEmitImplicit: true };

/** Calls GetOverview for a provider at `now` (ISO 8601). */
export async function overviewOf(
  service: RevenueFunctions,
  provider: bigint,
  now: string,
): Promise<JsonValue> {
  const request = create(GetOverviewRequestSchema);
  const { message } = await callAt(now, () =>
    service.getOverview(request, contextOf(provider, now)),
  );
  return toJson(GetOverviewResponseSchema, message, OPTIONS);
}

/** Calls GetServerBreakdown for a provider at `now` (ISO 8601); the dates are the request's texts. */
export async function breakdownOf(
  service: RevenueFunctions,
  provider: bigint,
  now: string,
  startDate: string,
  endDate: string,
): Promise<JsonValue> {
  const request = create(GetServerBreakdownRequestSchema, { startDate, endDate });
  const { message } = await callAt(now, () =>
    service.getServerBreakdown(request, contextOf(provider, now)),
  );
  return toJson(GetServerBreakdownResponseSchema, message, OPTIONS);
}

/**
 * Calls ListDailyRevenue for a provider at `now` (ISO 8601); the dates are the request's texts. Resolves
 * to the message of the error if the request is refused.
 */
export async function dailyOf(
  service: RevenueFunctions,
  provider: bigint,
  now: string,
  startDate: string,
  endDate: string,
): Promise<JsonValue> {
  const request = create(ListDailyRevenueRequestSchema, { startDate, endDate });
  try {
    const { message } = await callAt(now, () =>
      service.listDailyRevenue(request, contextOf(provider, now)),
    );
    return toJson(ListDailyRevenueResponseSchema, message, OPTIONS);
  } catch (error) {
    if (error instanceof ServiceError && error.kind === "invalidArgument") return error.message;
    throw error;
  }
}

function contextOf(provider: bigint, now: string): Context {
  return {
    caller: { providerId: String(provider) },
    now: Date.parse(now),
    signal: new AbortController().signal,
    deadline: Infinity,
  };
}
