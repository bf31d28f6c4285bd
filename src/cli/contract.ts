/** The contract with whoever makes the tables of the ledger: all that `--check` looks at in a database. */
import type { Knex } from "knex";
import { checkLedger } from "../db/contract/columns.ts";
import { refusedStatements, type Statements } from "../db/contract/rights.ts";

/**
 * Looks at the tables of the ledger, and if they are right prepares each statement: others would be refused for what is
 * named already. Changes nothing. Resolves to a line for each thing that is wrong.
 *
 * @param statements those that the account must be able to run
 */
export async function checkContract(database: Knex, statements: Statements): Promise<string[]> {
  const wrong = await checkLedger(database);
  if (wrong.length > 0) return wrong;
  const refused = await refusedStatements(database, statements);
  return refused.map(({ statement, reason }) => `the statement ${statement}: ${reason}`);
}

/** Prints what is wrong. Returns whether nothing is. */
export function printErrors(lines: readonly string[]): boolean {
  for (const line of lines) console.error(`error: ${line}`);
  return lines.length === 0;
}
