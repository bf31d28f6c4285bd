/** The SQL statements of the RPCs, by name: what the service's account is checked with, and docs/sql/ shows. */
import type { Statement as Compiled } from "../db/statement.ts";
import { factsStatement } from "../rollup/read/facts.ts";
import { sizeStatement } from "../rollup/read/missing.ts";
import { breakdownStatements as breakdown } from "./breakdown/queries.ts";
import { chargesOfDefault, chargesOfMaximum } from "./charges/queries.ts";
import { utcDaily, zonedDaily } from "./daily/queries.ts";
import { overviewStatements as overview } from "./overview/queries.ts";
import { payoutsOfDefault, payoutsOfMaximum } from "./payouts/queries.ts";
import { earnedStatements as earned, providersAfter } from "./platform/queries.ts";

/** A compiled statement. */
type Statement = Pick<Compiled<never>, "text" | "sql" | "parameters">;

/** Of those that complete sums, `cached` reads none itself. */
export const STATEMENTS = {
  facts: factsStatement,
  size: sizeStatement,
  cachedOverview: overview.cached,
  fullOverview: overview.full,
  rawOverview: overview.raw,
  cachedBreakdown: breakdown.cached,
  fullBreakdown: breakdown.full,
  rawBreakdown: breakdown.raw,
  cachedDaily: utcDaily.cached,
  fullDaily: utcDaily.full,
  zonedFullDaily: zonedDaily.full,
  rawDaily: utcDaily.raw,
  payoutsOfDefault,
  payoutsOfMaximum,
  chargesOfDefault,
  chargesOfMaximum,
  providersAfter,
  providerRevenue: earned.full,
  rawProviderRevenue: earned.raw,
} as const satisfies Record<string, Statement>;

export type StatementName = keyof typeof STATEMENTS;

export const STATEMENT_NAMES = Object.keys(STATEMENTS) as StatementName[];
