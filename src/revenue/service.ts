/**
 * RevenueService as plain functions: (request, context) → response. All protocols call these
 * functions; the functions do not depend on a protocol.
 */
import type {
  GetOverviewRequest,
  GetOverviewResponse,
  GetServerBreakdownRequest,
  GetServerBreakdownResponse,
} from "../../gen/revenue/v1/revenue_pb.ts";
import type { Read } from "../db/query.ts";
import type { ReportLag } from "../rollup/read/lag-log.ts";
import { createGetServerBreakdown } from "./breakdown/handler.ts";
import type { Context } from "./context.ts";
import { createGetOverview } from "./overview/handler.ts";

/** The two RPCs. Both reject with a `ServiceError`. */
export interface RevenueFunctions {
  getOverview(request: GetOverviewRequest, context: Context): Promise<GetOverviewResponse>;
  getServerBreakdown(
    request: GetServerBreakdownRequest,
    context: Context,
  ): Promise<GetServerBreakdownResponse>;
}

/**
 * Creates the service. It caches totals that it reads from rollups.
 *
 * @param reportLag called once per call with the state of the rollup that the call used
 */
export function createRevenueService(
  read: Read,
  reportLag: ReportLag = () => {},
): RevenueFunctions {
  return {
    getOverview: createGetOverview(read, reportLag),
    getServerBreakdown: createGetServerBreakdown(read, reportLag),
  };
}
