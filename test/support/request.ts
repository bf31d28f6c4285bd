/** A call to the service, independent of the protocol. */
import type { PlatformRevenueService } from "../../gen/revenue/v1/platform_pb.ts";
import { RevenueService } from "../../gen/revenue/v1/revenue_pb.ts";

/** The name of an RPC about the provider of a call, as in the proto file; and of one about all providers. */
export type MethodName = Capitalize<keyof typeof RevenueService.method>;
export type PlatformMethodName = Capitalize<keyof typeof PlatformRevenueService.method>;

/** The names of all RPCs about a provider, in the order of the proto file. */
export const METHODS = RevenueService.methods.map(({ name }) => name as MethodName);

/** The REST path of each RPC. Written out here, not read from the proto file: clients depend on them. */
export const paths: Readonly<Record<MethodName | PlatformMethodName, string>> = {
  GetOverview: "/api/provider/revenue",
  GetServerBreakdown: "/api/provider/revenue/servers",
  GetDailyRevenue: "/api/provider/revenue/daily",
  ListPayouts: "/api/provider/revenue/payouts",
  ListCharges: "/api/provider/revenue/charges",
  ListProviderRevenue: "/api/platform/revenue",
};

/** Headers or metadata to send, in order. A name may occur more than once. */
export type RequestHeaders = readonly (readonly [name: string, value: string])[];

/** A call to make. */
export interface RpcRequest {
  readonly method: MethodName | PlatformMethodName;
  /** The request's fields by their JSON names; none by default. */
  readonly message?: {
    readonly startDate?: string;
    readonly endDate?: string;
    readonly timeZone?: string;
    readonly pageSize?: number;
    readonly pageToken?: string;
  };
  readonly headers?: RequestHeaders;
  /** The client's deadline, in milliseconds from now. Ignored by REST clients. */
  readonly timeout?: number;
  /** Cancels the call. */
  readonly signal?: AbortSignal;
}

/** The headers of a call with an API key. */
export function withKey(key: string): RequestHeaders {
  return [["x-api-key", key]];
}
