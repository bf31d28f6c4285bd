/**
 * RevenueService, written once as plain functions: (request, context) → response.
 * Every protocol calls these; none of them knows of a protocol.
 */
import type {
  GetOverviewRequest,
  GetOverviewResponse,
  GetServerBreakdownRequest,
  GetServerBreakdownResponse,
} from "../../gen/revenue/v1/revenue_pb.ts";
import type { Read } from "../db/query.ts";
import type { ReportLag } from "../rollup/read/lag-log.ts";
import { createBreakdownCache, getServerBreakdown } from "./breakdown/handler.ts";
import type { Context } from "./context.ts";
import { createOverviewCache, getOverview } from "./overview/handler.ts";

/** The two RPCs. Each rejects with a `ServiceError`. */
export interface RevenueFunctions {
  getOverview(request: GetOverviewRequest, context: Context): Promise<GetOverviewResponse>;
  getServerBreakdown(
    request: GetServerBreakdownRequest,
    context: Context,
  ): Promise<GetServerBreakdownResponse>;
}

/**
 * Makes the service on a database. It remembers what it read of the rollups.
 *
 * @param reportLag is told which rollup each answer saw; nobody by default
 */
export function createRevenueService(
  read: Read,
  reportLag: ReportLag = () => {},
): RevenueFunctions {
  const overview = { read, cache: createOverviewCache(), reportLag };
  const breakdown = { read, cache: createBreakdownCache(), reportLag };
  return {
    getOverview: (request, context) => getOverview(overview, request, context),
    getServerBreakdown: (request, context) => getServerBreakdown(breakdown, request, context),
  };
}
