/**
 * RevenueService as plain functions: (request, context) → response. All protocols call these
 * functions; the functions do not depend on a protocol.
 */
import type { Read } from "../db/query.ts";
import type { ReportLag } from "../rollup/read/lag-log.ts";
import { createGetServerBreakdown } from "./breakdown/handler.ts";
import { createGetOverview } from "./overview/handler.ts";

/** The two RPCs. Both reject with a `ServiceError`. */
export type RevenueFunctions = ReturnType<typeof createRevenueService>;

/**
 * Creates the service. It caches totals that it reads from rollups.
 *
 * @param reportLag called once per answer
 */
export function createRevenueService(read: Read, reportLag: ReportLag = () => {}) {
  return {
    getOverview: createGetOverview(read, reportLag),
    getServerBreakdown: createGetServerBreakdown(read, reportLag),
  };
}
