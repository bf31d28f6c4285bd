/** The SQL statements of the revenue service, by name, and a `Read` that records which of them ran. */
import type { Read } from "../../src/db/query.ts";
import { fullBreakdown, uncoveredBreakdown } from "../../src/revenue/breakdown/queries.ts";
import {
  fullOverview,
  uncoveredOverview,
  uncoveredOverviews2,
  uncoveredOverviews4,
  uncoveredOverviews8,
} from "../../src/revenue/overview/queries.ts";
import { lastInstantOf, stateText, usedRollup } from "../../src/rollup/read/sql.ts";
import { TABLES } from "../../src/rollup/tables.ts";
import { START } from "../../src/rollup/timeline.ts";

/** A compiled statement. */
export interface Statement {
  /** With `?` for each binding. */
  readonly sql: string;
  /** The parameter of each `?`, in order. */
  readonly parameters: readonly string[];
}

export const STATEMENTS = {
  fullOverview,
  uncoveredOverview,
  uncoveredOverviews2,
  uncoveredOverviews4,
  uncoveredOverviews8,
  fullBreakdown,
  uncoveredBreakdown,
} as const satisfies Record<string, Statement>;

export type StatementName = keyof typeof STATEMENTS;

export const STATEMENT_NAMES = Object.keys(STATEMENTS) as StatementName[];

/** Parameter values by parameter name. */
export type Values = Readonly<Record<string, string>>;

/** The parameters of a statement for several providers, from those of each: `:now3` of the fourth. */
export function atPlaces(all: readonly Values[]): Values {
  return Object.fromEntries(
    all.flatMap((values, place) =>
      Object.entries(values).map(([name, value]) => [`${name}${place}`, value]),
    ),
  );
}

/** The bindings of a statement's `?`, in order. Throws if a parameter has no value. */
export function bindingsOf({ parameters }: Statement, values: Values): string[] {
  return parameters.map((parameter) => {
    const value = values[parameter];
    if (value === undefined) throw new Error(`no value for :${parameter}`);
    return value;
  });
}

/**
 * The parameters that an uncovered query takes from the cache: the rollup's state, and the period
 * edges that lie farthest before those in `values`, which are the checkpoints before them.
 */
export async function cachedValues(read: Read, values: Values): Promise<Values> {
  const { signal } = new AbortController();
  const { provider = "", start = "", end = "", now = "" } = values;
  const { rows } = await fullBreakdown.run(read, { provider, start, end, now }, { signal });
  const rollup = usedRollup(rows.state);
  const [{ beforeStart = "", afterEnd = "" } = {}] = rows.checkpoints;
  const { generation } = rollup;
  const [[beforeEnd] = []] = await read(
    `SELECT CAST(COALESCE(MAX(at), '${START}') AS CHAR) FROM ${TABLES.checkpoints}
     WHERE provider_id = ? AND generation = ? AND at <= ?`,
    [provider, generation, end],
    { signal },
  );
  return {
    rollup: stateText(rollup),
    watermark: rollup.watermark,
    verify: "1",
    first: beforeStart,
    last: lastInstantOf(afterEnd),
    cachedStart: beforeStart,
    cachedEnd: beforeEnd ?? START,
  };
}

/** One query of a statement: a branch of its UNION ALL. */
export interface Branch {
  readonly sql: string;
  readonly bindings: readonly string[];
}

/** The queries of a statement, in order, each with its bindings. */
export function branchesOf(statement: Statement, values: Values): Branch[] {
  const bindings = bindingsOf(statement, values);
  return statement.sql.split("\nUNION ALL ").map((branch) => {
    const sql = branch.replace(/^\(([\s\S]*)\)$/, "$1");
    return { sql, bindings: bindings.splice(0, sql.split("?").length - 1) };
  });
}

/** A `Read` that records the statements it runs. */
export interface RecordingRead {
  readonly read: Read;
  /** Returns the names of the statements that ran since the previous call. */
  takeNames(): StatementName[];
}

/** Wraps a `Read` so that it records the statements it runs. It throws on any other statement. */
export function recordStatements(read: Read): RecordingRead {
  let names: StatementName[] = [];
  return {
    read: (sql, ...rest) => {
      const name = STATEMENT_NAMES.find((name) => STATEMENTS[name].sql === sql);
      if (name === undefined) throw new Error(`not a statement of the service: ${sql}`);
      names.push(name);
      return read(sql, ...rest);
    },
    takeNames() {
      const taken = names;
      names = [];
      return taken;
    },
  };
}
