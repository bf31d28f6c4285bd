/** A call to the service, independent of the protocol. */
import { RevenueService } from "../../gen/revenue/v1/revenue_pb.ts";

/** The name of an RPC, as in the proto file. */
export type MethodName = Capitalize<keyof typeof RevenueService.method>;

/** The names of all RPCs, in the order of the proto file. */
export const METHODS = RevenueService.methods.map(({ name }) => name as MethodName);

/** The REST path of each RPC. Written out here, not read from the proto file: clients depend on them. */
export const paths: Readonly<Record<MethodName, string>> = {
  GetOverview: "/api/provider/revenue",
  GetServerBreakdown: "/api/provider/revenue/servers",
  GetDailyRevenue: "/api/provider/revenue/daily",
  ListPayouts: "/api/provider/revenue/payouts",
  ListCharges: "/api/provider/revenue/charges",
};

/** Headers or metadata to send, in order. A name may occur more than once. */
export type RequestHeaders = readonly (readonly [name: string, value: string])[];

/** A call to make. */
export interface RpcRequest {
  readonly method: MethodName;
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
