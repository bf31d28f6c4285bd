/**
 * The SQL statements of the service's RPCs, by name. `npm run generate` writes each to docs/sql/, so that a reader
 * sees what runs, and a change of one is a difference.
 */
import type { Statement as Compiled } from "../src/db/statement.ts";
import { breakdowns, rawBreakdown } from "../src/revenue/breakdown/queries.ts";
import { chargesOfDefault, chargesOfMaximum } from "../src/revenue/charges/queries.ts";
import { cachedDaily, fullDaily, RAW } from "../src/revenue/daily/queries.ts";
import { cachedOverview, fullOverview, rawOverview } from "../src/revenue/overview/queries.ts";
import { payoutsOfDefault, payoutsOfMaximum } from "../src/revenue/payouts/queries.ts";
import { factsStatement } from "../src/rollup/read/facts.ts";
import { sizeStatement } from "../src/rollup/read/missing.ts";

/** A compiled statement. */
type Statement = Pick<Compiled<never, string>, "text" | "sql" | "parameters">;

/** Of those that complete sums, `cached` reads none itself, and `half` those at one of two marks. */
export const STATEMENTS = {
  facts: factsStatement,
  size: sizeStatement,
  cachedOverview,
  fullOverview,
  rawOverview,
  cachedBreakdown: breakdowns[0],
  halfBreakdown: breakdowns[1],
  fullBreakdown: breakdowns[2],
  rawBreakdown,
  cachedDaily: cachedDaily.utc,
  fullDaily: fullDaily.utc,
  rawDaily: RAW.utc,
  fixedCachedDaily: cachedDaily.fixed,
  fixedFullDaily: fullDaily.fixed,
  fixedRawDaily: RAW.fixed,
  zonedCachedDaily: cachedDaily.zoned,
  zonedFullDaily: fullDaily.zoned,
  zonedRawDaily: RAW.zoned,
  payoutsOfDefault,
  payoutsOfMaximum,
  chargesOfDefault,
  chargesOfMaximum,
} as const satisfies Record<string, Statement>;

export type StatementName = keyof typeof STATEMENTS;

export const STATEMENT_NAMES = Object.keys(STATEMENTS) as StatementName[];

/** Those whose text is that of another one but for a number, or for queries that they leave out. */
const ALIKE: readonly StatementName[] = ["halfBreakdown", "payoutsOfMaximum", "chargesOfMaximum"];

/** The files of the statements: their texts, by path. */
export function statementFiles(): ReadonlyMap<string, string> {
  const shown = STATEMENT_NAMES.filter((name) => !ALIKE.includes(name));
  return new Map(
    shown.map((name) => [`docs/sql/${name}.sql`, `${formatted(STATEMENTS[name].text)};\n`]),
  );
}

/** A line for each column, and one for what follows FROM. */
function formatted(sql: string): string {
  return sql
    .replace(/\s*\n\s*/g, " ")
    .replaceAll(" UNION ALL ", "\nUNION ALL\n")
    .replace(/, (?=CAST\(|NULL\b)(?![^()]*\) AS)/g, ",\n  ")
    .replace(/ FROM (?=\w+ WHERE|\(SELECT)/g, "\n  FROM ");
}
