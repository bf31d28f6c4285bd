/** The SQL statements of the RPCs, by name: what the service's account is checked with, and docs/sql/ shows. */
import type { Statement as Compiled } from "../db/statement.ts";
import { factsStatement } from "../rollup/read/facts.ts";
import { sizeStatement } from "../rollup/read/missing.ts";
import { cachedBreakdown, fullBreakdown, rawBreakdown } from "./breakdown/queries.ts";
import { chargesOfDefault, chargesOfMaximum } from "./charges/queries.ts";
import { cachedDaily, rawDaily, utcDaily, zonedDaily } from "./daily/queries.ts";
import { cachedOverview, fullOverview, rawOverview } from "./overview/queries.ts";
import { payoutsOfDefault, payoutsOfMaximum } from "./payouts/queries.ts";
import { providerRevenue, providersAfter, rawProviderRevenue } from "./platform/queries.ts";

/** A compiled statement. */
type Statement = Pick<Compiled<never>, "text" | "sql" | "parameters">;

/** Of those that complete sums, `cached` reads none itself. */
export const STATEMENTS = {
  facts: factsStatement,
  size: sizeStatement,
  cachedOverview,
  fullOverview,
  rawOverview,
  cachedBreakdown,
  fullBreakdown,
  rawBreakdown,
  cachedDaily,
  fullDaily: utcDaily,
  zonedFullDaily: zonedDaily,
  rawDaily,
  payoutsOfDefault,
  payoutsOfMaximum,
  chargesOfDefault,
  chargesOfMaximum,
  providersAfter,
  providerRevenue,
  rawProviderRevenue,
} as const satisfies Record<string, Statement>;

export type StatementName = keyof typeof STATEMENTS;

export const STATEMENT_NAMES = Object.keys(STATEMENTS) as StatementName[];
