/**
 * The SQL statements of the service's RPCs, by name. `npm run generate` writes each to docs/sql/, so that a reader
 * sees what runs, and a change of one is a difference.
 */
import { STATEMENT_NAMES, STATEMENTS, type StatementName } from "../src/revenue/statements.ts";

export { STATEMENT_NAMES, STATEMENTS, type StatementName } from "../src/revenue/statements.ts";

/** Those whose text is that of another one but for a number, or for queries that they leave out. */
const ALIKE: readonly StatementName[] = ["payoutsOfMaximum", "chargesOfMaximum"];

/** Where they are, from the root. */
export const STATEMENT_FOLDER = "docs/sql";

/** The files of the statements: their texts, by path. */
export function statementFiles(): ReadonlyMap<string, string> {
  const shown = STATEMENT_NAMES.filter((name) => !ALIKE.includes(name));
  return new Map(
    shown.map((name) => [
      `${STATEMENT_FOLDER}/${name}.sql`,
      `${formatted(STATEMENTS[name].text)};\n`,
    ]),
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
