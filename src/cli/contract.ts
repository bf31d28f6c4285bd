/** The contract with whoever makes the tables of the ledger: all that `--check` looks at in a database. */
import type { Knex } from "knex";
import { checkLedger } from "../db/contract/columns.ts";
import { refusedStatements, type Statements } from "../db/contract/rights.ts";

/**
 * Looks at the tables of the ledger, and prepares each statement. Changes nothing. Resolves to a line for each thing
 * that is wrong.
 *
 * @param statements those that the account must be able to run
 */
export async function checkContract(database: Knex, statements: Statements): Promise<string[]> {
  const wrong = await checkLedger(database);
  const refused = await refusedStatements(database, statements);
  // A table or a column that is named is why a statement is refused.
  const named = wrong.map((line) => line.split(/[ :]/)[0] ?? "");
  const others = refused.filter(({ reason }) => !named.some((name) => namesIt(reason, name)));
  return [
    ...wrong,
    ...others.map(({ statement, reason }) => `the statement ${statement}: ${reason}`),
  ];
}

/** Whether the server's words name a table, or a column as `table.column`. */
function namesIt(reason: string, name: string): boolean {
  const [table = "", column = table] = name.split(".");
  return new RegExp(`\\b(${table}|${column})\\b`).test(reason);
}

/** Prints what is wrong. Returns whether nothing is. */
export function printErrors(lines: readonly string[]): boolean {
  for (const line of lines) console.error(`error: ${line}`);
  return lines.length === 0;
}
