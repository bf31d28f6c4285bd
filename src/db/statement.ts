/**
 * Several queries in one statement: one consistent snapshot and one round trip, without a
 * transaction.
 *
 * Each query becomes a branch of a UNION ALL. The first column is the number of the branch. Every
 * other column is text, so that branches of different shapes fit together and decimals keep their
 * exact digits.
 */
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

/** Queries compiled into one statement. */
export interface Statement<Q extends Queries, Parameter extends string> {
  /** The statement, with `?` for each binding. */
  readonly sql: string;
  /** The parameter of each `?`, in order. */
  readonly parameters: readonly Parameter[];
  /** Resolves to the rows of every query. Rejects with a `ServiceError`, as `Read` does. */
  run(
    read: Read,
    values: Readonly<Record<Parameter, string>>,
    options: ReadOptions,
  ): Promise<{ readonly [Name in keyof Q]: Rows<Q[Name]> }>;
}

/**
 * Compiles queries. Done once, at start.
 *
 * @throws Error if a query uses a parameter that is not declared, or a declared one is not used
 */
export function compileStatement<Q extends Queries, Parameter extends string>(
  queries: Q,
  declared: readonly Parameter[],
): Statement<Q, Parameter> {
  const names = Object.keys(queries);
  const shapes = Object.values(queries).map(({ select }) => Object.keys(select));
  const width = Math.max(...shapes.map((columns) => columns.length));
  const branches = Object.values(queries).map(({ select, from }, index) => {
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

  return {
    sql,
    parameters,
    async run(read, values, options) {
      const bindings = parameters.map((parameter) => values[parameter]);
      const byQuery: Record<string, string>[][] = names.map(() => []);
      for (const row of await read(sql, bindings, options)) {
        const index = Number(row[0]);
        byQuery[index]?.push(toObject(shapes[index] ?? [], row));
      }
      return Object.fromEntries(names.map((name, index) => [name, byQuery[index]])) as {
        [Name in keyof Q]: Rows<Q[Name]>;
      };
    },
  };
}

function toObject(columns: readonly string[], row: Row): Record<string, string> {
  const object: Record<string, string> = {};
  for (let i = 0; i < columns.length; i++) object[columns[i] as string] = row[i + 1] ?? "";
  return object;
}
