/**
 * Several queries in one statement: one consistent snapshot and one round trip, without a
 * transaction.
 *
 * Each query becomes a branch of a UNION ALL. The first column is the number of the branch. Every
 * other column is text, so that branches of different shapes fit together and decimals keep their
 * exact digits. The first branch also tells the instant of the snapshot, which a branch of its own
 * would tell at a higher cost.
 */
import { fromDatetime } from "./datetime.ts";
import { type Freshness, HEARTBEAT } from "./freshness.ts";
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

/** For whom a statement runs, and until when. */
export interface RunOptions extends ReadOptions {
  /** Refuses answers that are too old, which are then asked of another node. Default: none are. */
  readonly freshness?: Freshness | undefined;
}

/** The answer to a statement. */
export interface Result<Q extends Queries> {
  /** The rows of every query. */
  readonly rows: { readonly [Name in keyof Q]: Rows<Q[Name]> };
  /**
   * In epoch ms: everything that was committed before is in the rows. By the clock of the node,
   * when the statement began; with `freshness`, see there.
   */
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
    options: RunOptions,
  ): Promise<Result<Q>>;
}

/** Columns that the first query gets in addition, and those where the age of answers is limited. */
const INSTANT = { instant: "UTC_TIMESTAMP(3)" };
const INSTANT_AND_HEARTBEAT = { ...INSTANT, heartbeat: HEARTBEAT };

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
  operation?: string,
): Statement<Q, Parameter> {
  const plain = compile(queries, INSTANT, declared);
  const limited = compile(queries, INSTANT_AND_HEARTBEAT, declared);
  return {
    sql: plain.sql,
    parameters: plain.parameters,
    async run(read, values, { freshness, ...given }) {
      const options = operation === undefined ? given : { ...given, operation };
      const { sql, parameters, parse } = freshness ? limited : plain;
      const bindings = parameters.map((parameter) => values[parameter]);
      if (freshness === undefined) {
        const { rows, instant } = parse(await read(sql, bindings, options));
        return { rows: rows as Result<Q>["rows"], asOf: instant };
      }
      const owner = options.owner ?? "";
      let result: Result<Q> | undefined;
      await read(sql, bindings, {
        ...options,
        server: freshness.serverOf(owner),
        check(found, server) {
          const { rows, ...snapshot } = parse(found);
          const asOf = freshness.judge(owner, { ...snapshot, server });
          result = { rows: rows as Result<Q>["rows"], asOf };
        },
      });
      if (result === undefined) throw new Error("the rows were not checked");
      return result;
    },
  };
}

/** Compiles queries with columns that are added to the first. */
function compile<Parameter extends string>(
  given: Queries,
  added: Query["select"],
  declared: readonly Parameter[],
) {
  const [first] = Object.entries(given);
  if (first === undefined) throw new Error("expected at least one query");
  const [carrier, { select, from }] = first;
  const queries = { ...given, [carrier]: { select: { ...select, ...added }, from } };
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
    /** @throws Error if the first query does not have one row */
    parse(found: readonly Row[]) {
      const byQuery: Record<string, string>[][] = names.map(() => []);
      for (const row of found) {
        const index = Number(row[0]);
        byQuery[index]?.push(toObject(shapes[index] ?? [], row));
      }
      const [[snapshot, ...others] = []] = byQuery;
      if (snapshot === undefined || others.length > 0) {
        throw new Error(`expected one row of the query ${carrier}, got ${byQuery[0]?.length}`);
      }
      return {
        rows: Object.fromEntries(names.map((name, index) => [name, byQuery[index]])),
        instant: fromDatetime(snapshot.instant ?? ""),
        heartbeat: fromDatetime(snapshot.heartbeat ?? ""),
      };
    },
  };
}

function toObject(columns: readonly string[], row: Row): Record<string, string> {
  const object: Record<string, string> = {};
  for (let i = 0; i < columns.length; i++) object[columns[i] as string] = row[i + 1] ?? "";
  return object;
}
