/** What the tests ask the service, independent of the protocol. */
import { RevenueService } from "../../gen/revenue/v1/revenue_pb.ts";

/** The RPCs by name. */
export const methods = {
  GetOverview: RevenueService.method.getOverview,
  GetServerBreakdown: RevenueService.method.getServerBreakdown,
} as const;

export type MethodName = keyof typeof methods;

/** The paths of REST, as the specification writes them (sections 4.1 and 4.2). */
export const paths: Readonly<Record<MethodName, string>> = {
  GetOverview: "/api/provider/revenue",
  GetServerBreakdown: "/api/provider/revenue/servers",
};

/** A call to make. */
export interface RpcRequest {
  readonly method: MethodName;
  /** The request's fields by their JSON names; none by default. */
  readonly message?: { readonly startDate?: string; readonly endDate?: string };
  /** Headers, or metadata. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** The caller's own deadline, in milliseconds from now. REST has none. */
  readonly timeout?: number;
  /** Aborts when the caller goes away. */
  readonly signal?: AbortSignal;
}

/** The key in the header that scripts use. */
export function withKey(key: string): readonly (readonly [string, string])[] {
  return [["x-api-key", key]];
}
