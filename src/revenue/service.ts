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
import { createBreakdownMemory, getServerBreakdown } from "./breakdown.ts";
import type { Context } from "./context.ts";
import { createOverviewMemory, getOverview } from "./overview.ts";
import type { NoteLag } from "./rollup-lag.ts";

/** The two RPCs. Each rejects with a `Failure`. */
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
 * @param noteLag is told which rollup each answer saw; nobody by default
 */
export function createRevenueService(read: Read, noteLag: NoteLag = () => {}): RevenueFunctions {
  const overview = { read, memory: createOverviewMemory(), noteLag };
  const breakdown = { read, memory: createBreakdownMemory(), noteLag };
  return {
    getOverview: (request, context) => getOverview(overview, request, context),
    getServerBreakdown: (request, context) => getServerBreakdown(breakdown, request, context),
  };
}
