/**
 * RevenueService as plain functions: (request, context) → answer. All protocols call these
 * functions; the functions do not depend on a protocol.
 */
import type { Freshness } from "../db/freshness.ts";
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
 * @param freshness limits the age of answers; no limit by default
 * @param observeCache called with each lookup in a cache of totals
 */
export function createRevenueService(
  read: Read,
  reportLag: ReportLag = () => {},
  freshness?: Freshness,
  observeCache: (cache: string, hit: boolean) => void = () => {},
) {
  const observe = (cache: string) => (hit: boolean) => observeCache(cache, hit);
  return {
    getOverview: createGetOverview(read, reportLag, freshness, observe("overview")),
    getServerBreakdown: createGetServerBreakdown(read, reportLag, freshness, observe("breakdown")),
  };
}
