/** The SQL statements of the revenue service, by name, and a `Read` that records which of them ran. */
import { fromDatetime, toDatetime } from "../../src/db/datetime.ts";
import type { Read } from "../../src/db/query.ts";
import { type Edge, type Edges, edgeFrom, edgeValues } from "../../src/revenue/breakdown/edge.ts";
import { prefixSum } from "../../src/revenue/breakdown/prefix-sum.ts";
import {
  breakdownCheckpoints,
  fullBreakdown,
  uncoveredBreakdown,
} from "../../src/revenue/breakdown/queries.ts";
import {
  fullOverview,
  uncoveredOverview,
  uncoveredOverviews2,
  uncoveredOverviews4,
  uncoveredOverviews8,
} from "../../src/revenue/overview/queries.ts";
import { NO_CACHED_TOTALS, stateText, usedRollup } from "../../src/rollup/read/sql.ts";
import { END, START } from "../../src/rollup/timeline.ts";

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
  breakdownCheckpoints,
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

/** What a full query is asked for that completes no cached totals. */
const NOTHING_CACHED = { rollup: NO_CACHED_TOTALS, verify: "0" };

/**
 * The values for a statement. The full breakdown is asked for at the given checkpoints, or at the last
 * one, and completes no cached totals.
 */
export function valuesFor(name: StatementName, values: Values): Values {
  if (name !== "fullBreakdown") return values;
  return { ...values, ...edgeValues(edgesOf(values)), ...NOTHING_CACHED };
}

/** The edges of the period from `start` to `end`, at `startTotals` and `endTotals`. */
function edgesOf({ start = "", end = "", startTotals = END, endTotals = END }: Values): Edges {
  const before = toDatetime(fromDatetime(start) - 1);
  return {
    start: { at: before, checkpoint: startTotals },
    end: { at: end, checkpoint: endTotals },
  };
}

/**
 * The parameters that an uncovered query takes from the cache: the rollup's state, and the prefix
 * sums that lie farthest before the edges in `values`, at the checkpoints before them. Their own
 * checkpoints, `startTotals` and `endTotals`, are those after the edges.
 */
export async function cachedValues(read: Read, values: Values): Promise<Values> {
  const { signal } = new AbortController();
  const { provider = "" } = values;
  const edges = edgesOf(values);
  const all = { provider, now: toDatetime(0), ...edgeValues(edges), ...NOTHING_CACHED };
  const { rows } = await fullBreakdown.run(read, all, { signal });
  const rollup = usedRollup(rows.state);
  const { start, end } = edges;
  const around = { provider, before: start.at, end: end.at };
  const found = await breakdownCheckpoints.run(read, around, { signal });
  const [{ beforeStart = "", afterStart = END, beforeEnd = "", afterEnd = END } = {}] =
    found.rows.checkpoints;
  const edge = ({ at }: Edge, before: string, next: string): Edge => {
    const totals = prefixSum({ at: before || START, checkpoint: next }, next, [], [], 0);
    return edgeFrom({ state: rollup, totals }, at);
  };
  const cached = {
    start: edge(start, beforeStart, afterStart),
    end: edge(end, beforeEnd, afterEnd),
  };
  return {
    ...{ rollup: stateText(rollup), watermark: rollup.watermark, verify: "1" },
    ...{ ...edgeValues(cached), startTotals: afterStart, endTotals: afterEnd },
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
