/** Calls the service's functions directly, without a protocol, and returns the responses as protobuf JSON. */
import { AsyncLocalStorage } from "node:async_hooks";
import {
  create,
  type DescMethodUnary,
  type JsonValue,
  type Message,
  type MessageInitShape,
  toJson,
} from "@bufbuild/protobuf";
import { PlatformRevenueService } from "../../../gen/revenue/v1/platform_pb.ts";
import { RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { toDatetime } from "../../../src/db/datetime.ts";
import type { Query, Read, Row } from "../../../src/db/query.ts";
import { ServiceError } from "../../../src/errors.ts";
import type { Answer, TimedContext } from "../../../src/handler.ts";
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
          return rows.map(([number = null, , ...provider]) => [number, timeOf(), ...provider]);
        return sql === factsStatement.sql ? atTime(rows) : rows;
      };
      return work({ ...session, query });
    }, options);
};

/** Makes a call at a time (ISO 8601), for `atTimeOfCall`. */
export const callAt = <T>(time: string, call: () => T): T =>
  timeOfCall.run(toDatetime(Date.parse(time)), call);

/** The time of calls by default. */
const NOW = "2026-11-20T09:30:00.000Z";

const { getOverview, getServerBreakdown, getDailyRevenue, listPayouts, listCharges } =
  RevenueService.method;
const { listProviderRevenue } = PlatformRevenueService.method;

/** Calls a function for a provider at `now` (ISO 8601). */
async function ask<Method extends DescMethodUnary>(
  method: Method,
  service: RevenueFunctions,
  [provider, now]: readonly [provider: bigint, now: string],
  request: MessageInitShape<Method["input"]>,
): Promise<JsonValue> {
  type Handler = (request: Message, context: TimedContext) => Promise<Answer<Message>>;
  const handle = service[method.localName as keyof RevenueFunctions] as unknown as Handler;
  const context = {
    caller: { providerId: String(provider), share: String(provider) },
    signal: new AbortController().signal,
    deadline: performance.now() + 3_600_000,
  };
  const { message } = await callAt(now, () => handle(create(method.input, request), context));
  return toJson(method.output, message, { alwaysEmitImplicit: true });
}

/** The same. Resolves to the message of the error if the request is refused. */
const askOrRefusal: typeof ask = (...call) =>
  ask(...call).catch((error: unknown) => {
    if (error instanceof ServiceError && error.kind === "invalidArgument") return error.message;
    throw error;
  });

type PeriodCall = [
  ...[service: RevenueFunctions, provider: bigint, now: string],
  ...[startDate: string, endDate: string, timeZone?: string],
];
type Fields<Method extends DescMethodUnary> = MessageInitShape<Method["input"]>;

export const overviewOf = (service: RevenueFunctions, provider: bigint, now: string) =>
  ask(getOverview, service, [provider, now], {});

export const breakdownOf = (
  ...[service, provider, now, startDate, endDate, timeZone = ""]: PeriodCall
) => ask(getServerBreakdown, service, [provider, now], { startDate, endDate, timeZone });

export const dailyOf = (
  ...[service, provider, now, startDate, endDate, timeZone = ""]: PeriodCall
) => askOrRefusal(getDailyRevenue, service, [provider, now], { startDate, endDate, timeZone });

/** A page of payouts, of charges, and of all providers. */
export const payoutsOf = (
  service: RevenueFunctions,
  provider: bigint,
  request: Fields<typeof listPayouts>,
  now = NOW,
) => askOrRefusal(listPayouts, service, [provider, now], request);

export const chargesOf = (
  service: RevenueFunctions,
  provider: bigint,
  request: Fields<typeof listCharges>,
  now = NOW,
) => askOrRefusal(listCharges, service, [provider, now], request);

export const providersOf = (
  service: RevenueFunctions,
  request: Fields<typeof listProviderRevenue>,
  now = NOW,
) => askOrRefusal(listProviderRevenue, service, [0n, now], request);
