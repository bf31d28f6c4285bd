/**
 * Several queries in one statement: one consistent snapshot and one round trip, without a
 * transaction.
 *
 * Each query becomes a branch of a UNION ALL. The first column is the number of the branch. Every
 * other column is text, so that branches of different shapes fit together and decimals keep their
 * exact digits. The first branch, which has one row, also tells the instant of the snapshot: a branch
 * of its own would tell it at a higher cost.
 */
import { fromDatetime } from "./datetime.ts";
import type { Read, ReadOptions, Row } from "./query.ts";

/** A query. `:name` is a parameter. */
interface Query<Column extends string = string> {
  /** The SQL expression of each column. */
  readonly select: Readonly<Record<Column, string>>;
  /** What follows FROM: `charges WHERE provider_id = :provider …`. */
  readonly from: string;
}

/** The rows of a query: the text of each column, "" for NULL. */
export type Rows<Q> = Q extends Query<infer Column> ? Readonly<Record<Column, string>>[] : never;

/** Queries by name. */
type Queries = Readonly<Record<string, Query>>;

/** The answer to a statement. */
export interface Result<Q extends Queries> {
  /** The rows of every query. */
  readonly rows: { readonly [Name in keyof Q]: Rows<Q[Name]> };
  /** In epoch ms: everything that was committed before is in the rows. */
  readonly asOf: number;
}

/** Queries compiled into one statement. */
export interface Statement<Q extends Queries, Parameter extends string> {
  /** The statement, with `?` for each binding. */
  readonly sql: string;
  /** The parameter of each `?`, in order. */
  readonly parameters: readonly Parameter[];
  /** Runs the statement. Rejects with a `ServiceError`, as `Read` does. */
  run(
    read: Read,
    values: Readonly<Record<Parameter, string>>,
    options: Omit<ReadOptions, "operation">,
  ): Promise<Result<Q>>;
}

/** SQL: the instant of the snapshot. By the clock of the node, the start of the statement. */
const INSTANT = "UTC_TIMESTAMP(3)";
/** What every statement begins with: the number of its first branch, and the instant. */
export const SNAPSHOT = `SELECT 0, CAST(${INSTANT} AS CHAR)`;
/** Whether a row is the one that tells the instant, in its second column. */
export const isSnapshot = (row: Row): boolean => Number(row[0]) === 0;

/**
 * Compiles queries. Done once, at start.
 *
 * @param queries the first of them must always have exactly one row
 * @param operation a short name, for metrics and traces
 * @throws Error if a query uses a parameter that is not declared, or a declared one is not used
 */
export function compileStatement<Q extends Queries, Parameter extends string>(
  queries: Q,
  declared: readonly Parameter[],
  operation: string,
): Statement<Q, Parameter> {
  const [first, ...others] = Object.entries<Query>(queries);
  if (first === undefined) throw new Error("expected at least one query");
  const [carrier, { select, from }] = first;
  const branches = [
    { select: { instant: INSTANT, ...select }, from },
    ...others.map(([, query]) => query),
  ];
  const { sql, parameters } = compile(branches, declared);
  const names = Object.keys(queries);
  const shapes = branches.map((branch) => Object.keys(branch.select));

  function parse(found: readonly Row[]): Result<Q> {
    const byQuery: Record<string, string>[][] = names.map(() => []);
    for (const row of found) {
      const index = Number(row[0]);
      byQuery[index]?.push(toObject(shapes[index] ?? [], row));
    }
    const [[snapshot, ...more] = []] = byQuery;
    if (snapshot === undefined || more.length > 0) {
      throw new Error(`expected one row of the query ${carrier}, got ${byQuery[0]?.length}`);
    }
    const rows = Object.fromEntries(names.map((name, index) => [name, byQuery[index]]));
    return { rows: rows as Result<Q>["rows"], asOf: fromDatetime(snapshot.instant ?? "") };
  }

  return {
    sql,
    parameters,
    async run(read, values, options) {
      const bindings = parameters.map((parameter) => values[parameter]);
      return parse(await read(sql, bindings, { ...options, operation }));
    },
  };
}

/** Compiles queries to the text of a statement. */
function compile<Parameter extends string>(
  queries: readonly Query[],
  declared: readonly Parameter[],
) {
  const width = Math.max(...queries.map(({ select }) => Object.keys(select).length));
  const branches = queries.map(({ select, from }, index) => {
    const columns = Object.values(select).map((expression) => `CAST(${expression} AS CHAR)`);
    while (columns.length < width) columns.push("NULL");
    return `SELECT ${[index, ...columns].join(", ")} FROM ${from}`;
  });
  // The first branch has no parentheses, because `Read` expects a statement that starts with
  // SELECT. The others have them, so that each can have its own ORDER BY and LIMIT.
  const text = branches
    .map((branch, index) => (index === 0 ? branch : `(${branch})`))
    .join("\nUNION ALL ");
  const parameters: Parameter[] = [];
  const sql = text.replace(/:([a-z]\w*)/gi, (_, name: string) => {
    const parameter = declared.find((known) => known === name);
    if (parameter === undefined) throw new Error(`parameter :${name} is not declared`);
    parameters.push(parameter);
    return "?";
  });
  for (const parameter of declared) {
    if (!parameters.includes(parameter)) throw new Error(`parameter :${parameter} is not used`);
  }
  return { sql, parameters };
}

function toObject(columns: readonly string[], row: Row): Record<string, string> {
  const object: Record<string, string> = {};
  for (let i = 0; i < columns.length; i++) object[columns[i] as string] = row[i + 1] ?? "";
  return object;
}
