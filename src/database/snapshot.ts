/**
 * Several questions, one statement: one statement is one consistent snapshot of
 * the database and one round trip, without a transaction around it.
 *
 * Each question becomes a branch of a UNION ALL. The branches are told apart by
 * their number in the first column; every other column is text, so that branches
 * of different shapes fit together and decimals keep their very digits.
 */
import type { Limits } from "../limits.ts";
import type { Read, Row } from "./read.ts";

/** One question: what it selects, under which names, and from where. `:name` is a parameter. */
export interface Question<Column extends string = string> {
  /** The SQL expression of each column. */
  readonly select: Readonly<Record<Column, string>>;
  /** Everything from FROM on: `charges WHERE provider_id = :provider …`. */
  readonly from: string;
}

/** The answers to a question: one object per row; every value is the database's text, "" for NULL. */
export type Answers<Q> =
  Q extends Question<infer Column> ? Readonly<Record<Column, string>>[] : never;

export type Questions = Readonly<Record<string, Question>>;

/** Named questions, compiled into one statement. */
export interface Snapshot<Q extends Questions, Parameter extends string> {
  /** The statement, with `?` for each binding. */
  readonly sql: string;
  /** The parameter of each `?`, in order. */
  readonly parameters: readonly Parameter[];
  /** Asks all questions of one snapshot. Rejects with a `Failure`, as `Read` does. */
  ask(
    read: Read,
    values: Readonly<Record<Parameter, string>>,
    limits: Limits,
  ): Promise<{ readonly [Name in keyof Q]: Answers<Q[Name]> }>;
}

/**
 * Compiles questions, once, at start.
 *
 * @throws Error where a question uses a parameter that was not declared, or one that was is not used
 */
export function compileSnapshot<Q extends Questions, Parameter extends string>(
  questions: Q,
  declared: readonly Parameter[],
): Snapshot<Q, Parameter> {
  const names = Object.keys(questions);
  const shapes = Object.values(questions).map((question) => Object.keys(question.select));
  const width = Math.max(...shapes.map((columns) => columns.length));
  const branches = Object.values(questions).map(({ select, from }, index) => {
    const columns = Object.values(select).map((expression) => `CAST(${expression} AS CHAR)`);
    while (columns.length < width) columns.push("NULL");
    return `SELECT ${[index, ...columns].join(", ")} FROM ${from}`;
  });
  // The first branch stands bare, so that the statement begins with SELECT; the others stand
  // in parentheses, so that each may have its own ORDER BY and LIMIT.
  const text = branches
    .map((branch, index) => (index === 0 ? branch : `(${branch})`))
    .join("\nUNION ALL ");
  const parameters: Parameter[] = [];
  const sql = text.replace(/:([a-z]\w*)/gi, (_, name: string) => {
    const parameter = declared.find((known) => known === name);
    if (parameter === undefined) throw new Error(`the parameter :${name} was not declared`);
    parameters.push(parameter);
    return "?";
  });
  for (const parameter of declared) {
    if (!parameters.includes(parameter)) throw new Error(`the parameter :${parameter} is not used`);
  }

  return {
    sql,
    parameters,
    async ask(read, values, limits) {
      const bindings = parameters.map((parameter) => values[parameter]);
      const rows = await read(sql, bindings, limits);
      const answers: Record<string, string>[][] = names.map(() => []);
      for (const row of rows) {
        const index = Number(row[0]);
        answers[index]?.push(answer(shapes[index] ?? [], row));
      }
      return Object.fromEntries(names.map((name, index) => [name, answers[index]])) as {
        [Name in keyof Q]: Answers<Q[Name]>;
      };
    },
  };
}

function answer(columns: readonly string[], row: Row): Record<string, string> {
  const object: Record<string, string> = {};
  for (let i = 0; i < columns.length; i++) object[columns[i] as string] = row[i + 1] ?? "";
  return object;
}
