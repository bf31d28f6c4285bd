/**
 * Several queries in one statement: one consistent snapshot and one round trip, without a
 * transaction.
 *
 * Each query becomes a branch of a UNION ALL. The first column is the number of the branch. Every
 * other column is text, so that branches of different shapes fit together and decimals keep their
 * exact digits. Each row of the first branch also tells the instant of the snapshot: a branch of its own
 * would tell it at a higher cost. So the first has one row, or at least one if there is no other branch.
 */
import { fromDatetime } from "./datetime.ts";
import type { Row, Query as SendQuery } from "./query.ts";
import { NOW } from "./sql-time.ts";

/** A query. `:name` is a parameter, of which a value is given with each run. */
interface Query<Column extends string = string> {
  /** The SQL expression of each column. */
  readonly select: Readonly<Record<Column, string>>;
  /** What follows FROM: `charges WHERE provider_id = :provider …`. */
  readonly from: string;
}

/** The rows of a query: the text of each column, "" for NULL. */
export type Rows<Q> = Q extends Query<infer Column> ? Readonly<Record<Column, string>>[] : never;

/** Queries by name. One that is undefined is left out of the statement, and has no rows. */
export type Queries = Readonly<Record<string, Query | undefined>>;

/** The answer to a statement. */
export interface Result<Q extends Queries> {
  /** The rows of every query. */
  readonly rows: { readonly [Name in keyof Q]-?: Rows<NonNullable<Q[Name]>> };
  /** In epoch ms: everything that was committed before is in the rows. */
  readonly asOf: number;
}

/** Queries compiled into one statement. */
export interface Statement<Q extends Queries> {
  /** The statement, to be read: with `:name` for each parameter. */
  readonly text: string;
  /** The statement, with `?` for each binding. */
  readonly sql: string;
  /** The parameter of each `?`, in order. */
  readonly parameters: readonly string[];
  /** Runs the statement with values of its parameters, and maybe others. Rejects as `query` does. */
  run(query: SendQuery, values: Readonly<Record<string, string>>): Promise<Result<Q>>;
}

/** Reads when the heartbeat was written, which tells how old the data of a node is (freshness.ts). */
export const HEARTBEAT = "SELECT written_at FROM heartbeat WHERE id = 1";
/** The instant of a snapshot, and of its heartbeat if there is one. */
export const INSTANT_AND_HEARTBEAT = `CONCAT_WS('/', ${NOW}, (${HEARTBEAT}))`;

/**
 * Compiles queries. Done once, at start.
 *
 * @param queries the first of them must always have exactly one row, or at least one if there is no other
 * @param operation a short name, for metrics and traces
 */
export function compileStatement<Q extends Queries>(queries: Q, operation: string): Statement<Q> {
  const parts = Object.entries(queries).filter((part): part is [string, Query] => !!part[1]);
  const [first, ...others] = parts;
  if (first === undefined) throw new Error("expected at least one query");
  const [carrier, { select, from }] = first;
  const branchesWith = (instant: string) => [
    { select: { instant, ...select }, from },
    ...others.map(([, query]) => query),
  ];
  const branches = branchesWith(NOW);
  const { text, sql, parameters } = compile(branches);
  const limited = compile(branchesWith(INSTANT_AND_HEARTBEAT));
  const shapes = branches.map((branch) => Object.keys(branch.select));
  const none = Object.fromEntries(Object.keys(queries).map((name) => [name, []]));

  function parse(found: readonly Row[], asOf = fromDatetime): Result<Q> {
    const byQuery: Record<string, string>[][] = parts.map(() => []);
    for (const row of found) {
      const index = Number(row[0]);
      byQuery[index]?.push(toObject(shapes[index] ?? [], row));
    }
    const [[snapshot, ...more] = []] = byQuery;
    if (snapshot === undefined || (others.length > 0 && more.length > 0)) {
      throw new Error(`expected one row of the query ${carrier}, got ${byQuery[0]?.length}`);
    }
    const rows = Object.fromEntries(parts.map(([name], index) => [name, byQuery[index]]));
    return {
      rows: { ...none, ...rows } as Result<Q>["rows"],
      asOf: asOf(snapshot.instant ?? ""),
    };
  }

  return {
    text,
    sql,
    parameters,
    async run(query, values) {
      const bindings = parameters.map((name) => {
        const value = values[name];
        if (value === undefined) throw new Error(`parameter :${name} of ${operation} has no value`);
        return value;
      });
      const { limitAge } = query;
      const text = limitAge === undefined ? sql : limited.sql;
      return parse(await query(text, bindings, operation), limitAge);
    },
  };
}

/** Compiles queries to the text of a statement. */
function compile(queries: readonly Query[]) {
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
  const named = /:([a-z]\w*)/gi;
  const parameters = [...text.matchAll(named)].map(([, name = ""]) => name);
  return { text, sql: text.replace(named, "?"), parameters };
}

function toObject(columns: readonly string[], row: Row): Record<string, string> {
  const object: Record<string, string> = {};
  for (let i = 0; i < columns.length; i++) object[columns[i] as string] = row[i + 1] ?? "";
  return object;
}
