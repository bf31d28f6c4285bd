/**
 * RevenueService, written once as plain functions: (request, context) → response.
 * Every door calls these; none of them knows of a protocol.
 */
import type {
  GetOverviewRequest,
  GetOverviewResponse,
  GetServerBreakdownRequest,
  GetServerBreakdownResponse,
} from "../../gen/revenue/v1/revenue_pb.ts";
import type { Read } from "../database/read.ts";
import { getServerBreakdown } from "./breakdown.ts";
import type { Context } from "./context.ts";
import { getOverview } from "./overview.ts";

/** The two RPCs. Each rejects with a `Failure`. */
export interface RevenueFunctions {
  getOverview(request: GetOverviewRequest, context: Context): Promise<GetOverviewResponse>;
  getServerBreakdown(
    request: GetServerBreakdownRequest,
    context: Context,
  ): Promise<GetServerBreakdownResponse>;
}

/** Makes the service on a database. */
export function createRevenueService(read: Read): RevenueFunctions {
  return {
    getOverview: (request, context) => getOverview(read, request, context),
    getServerBreakdown: (request, context) => getServerBreakdown(read, request, context),
  };
}
