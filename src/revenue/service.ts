/**
 * The services of the contract as plain functions: (request, context) → answer. All protocols call these
 * functions; the functions do not depend on a protocol.
 */
import { randomBytes } from "node:crypto";
import type { Read } from "../db/query.ts";
import { createAsk } from "../rollup/read/ask.ts";
import { createLedgerReads, type ReportDamage } from "../rollup/read/damage.ts";
import type { ReportLag } from "../rollup/read/lag-log.ts";
import { createGetServerBreakdown } from "./breakdown/handler.ts";
import { createListCharges } from "./charges/handler.ts";
import { createGetDailyRevenue } from "./daily/handler.ts";
import { createGetOverview } from "./overview/handler.ts";
import { createPageTokens } from "./page-token.ts";
import { createListPayouts } from "./payouts/handler.ts";
import { createListProviderRevenue } from "./platform/handler.ts";

/** The RPCs. All reject with a `ServiceError`. */
export type RevenueFunctions = ReturnType<typeof createRevenueService>;

/** What the service may be given. */
export interface RevenueOptions {
  /** The key of page tokens, 32 random bytes. Default: one of its own, so that no other service reads its tokens. */
  readonly pageTokenKey?: Uint8Array | undefined;
  /** Called once per answer. */
  readonly reportLag?: ReportLag | undefined;
  /** Called once per answer whose rollup is damaged. */
  readonly reportDamage?: ReportDamage | undefined;
}

/** Creates the functions. They cache sums that they read from rollups. */
export function createRevenueService(
  read: Read,
  {
    pageTokenKey = randomBytes(32),
    reportLag = () => {},
    reportDamage = () => {},
  }: RevenueOptions = {},
) {
  const tokens = createPageTokens(pageTokenKey);
  const ask = createAsk(read, createLedgerReads(reportDamage), reportLag);
  return {
    getOverview: createGetOverview(ask),
    getServerBreakdown: createGetServerBreakdown(ask),
    getDailyRevenue: createGetDailyRevenue(ask),
    listPayouts: createListPayouts(read, tokens),
    listCharges: createListCharges(read, tokens),
    listProviderRevenue: createListProviderRevenue(read, ask, tokens),
  };
}
