/** The statements that the service asks of the database, told apart. */
import type { Read } from "../../src/db/query.ts";
import { fullBreakdown, uncoveredBreakdown } from "../../src/revenue/breakdown/queries.ts";
import { fullOverview, uncoveredOverview } from "../../src/revenue/overview/queries.ts";

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
  fullBreakdown,
  uncoveredBreakdown,
} as const satisfies Record<string, Statement>;

export type StatementName = keyof typeof STATEMENTS;

export const STATEMENT_NAMES = Object.keys(STATEMENTS) as StatementName[];

/** A value for each parameter, by its name. */
export type Values = Readonly<Record<string, string>>;

/** What stands for a statement's `?`, in order. */
export function bindingsOf({ parameters }: Statement, values: Values): string[] {
  return parameters.map((parameter) => {
    const value = values[parameter];
    if (value === undefined) throw new Error(`there is no value for :${parameter}`);
    return value;
  });
}

/**
 * What may be remembered of the rollup as it is, as the values of the statements beside it: with
 * edges as far from the period's as they ever are.
 */
export async function cachedOf(read: Read, values: Values): Promise<Values> {
  const { signal } = new AbortController();
  const { provider = "", start = "", end = "", now = "" } = values;
  const { state } = await fullBreakdown.run(read, { provider, start, end, now }, signal);
  if (!state[0]) throw new Error("the whole says nothing of the rollup's state");
  const before = async (instant: string) => {
    const [row] = await read(
      "SELECT CAST(MAX(at) AS CHAR) FROM rollup_checkpoints WHERE provider_id = ? AND at <= ?",
      [provider, instant],
      signal,
    );
    return row?.[0] ?? "0001-01-01 00:00:00.000";
  };
  return {
    watermark: state[0].watermark,
    knownStart: await before(start),
    knownEnd: await before(end),
  };
}

/** One question of a statement. */
export interface Branch {
  readonly sql: string;
  readonly bindings: readonly string[];
}

/** The questions of a statement, in order, each with its bindings. */
export function branchesOf(statement: Statement, values: Values): Branch[] {
  const bindings = bindingsOf(statement, values);
  return statement.sql.split("\nUNION ALL ").map((branch) => {
    const sql = branch.replace(/^\(([\s\S]*)\)$/, "$1");
    return { sql, bindings: bindings.splice(0, sql.split("?").length - 1) };
  });
}

/** A `Read` that passes everything on, and takes down what it was asked. */
export interface RecordedRead {
  readonly read: Read;
  /** The names of the statements that were asked since the last time that this was called. */
  taken(): StatementName[];
}

/** Takes down what a `Read` is asked. */
export function recorded(read: Read): RecordedRead {
  let names: StatementName[] = [];
  return {
    read: (sql, ...rest) => {
      const name = STATEMENT_NAMES.find((name) => STATEMENTS[name].sql === sql);
      if (name === undefined) throw new Error(`not a statement of the service: ${sql}`);
      names.push(name);
      return read(sql, ...rest);
    },
    taken() {
      const taken = names;
      names = [];
      return taken;
    },
  };
}
