/** The contract with whoever makes the tables of the ledger: all that `--check` looks at in a database. */
import type { Knex } from "knex";
import { checkLedger } from "../db/contract/columns.ts";
import { type Finding, LEDGER, note, problem } from "../db/contract/ledger.ts";
import { checkPlans } from "../db/contract/plans.ts";
import { refusedStatements, type Statements } from "../db/contract/rights.ts";
import { checkServer } from "../db/contract/server.ts";
import { storedTables } from "../db/contract/stored.ts";
import { pendingMigrations } from "../db/pending-migrations.ts";
import { missingKeys } from "../rollup/write/run/keys.ts";

/**
 * Looks at the server, at the tables of the ledger and how views are read, and prepares each statement. Changes
 * nothing. While migrations are pending, only the tables that are there are looked at.
 *
 * @param statements those that the account must be able to run
 */
export async function checkContract(database: Knex, statements: Statements): Promise<Finding[]> {
  const isMigrated = (await pendingMigrations(database)).length === 0;
  const stored = await storedTables(database);
  const names = Object.keys(LEDGER).filter((name) => isMigrated || stored.has(name));
  const ledger = await checkLedger(database, names);
  const refused = isMigrated ? await refusedStatements(database, statements) : [];
  // A table or a column that is told is why a statement is refused.
  const told = ledger.filter(({ fails }) => fails).map(({ text }) => text.split(/[ :]/)[0] ?? "");
  const others = refused.filter(({ reason }) => !told.some((name) => namesIt(reason, name)));
  const withoutKeys = await missingKeys(database);
  return [
    ...(await checkServer(database)),
    ...ledger,
    ...others.map(({ statement, reason }) => problem(`the statement ${statement}: ${reason}`)),
    ...(await checkPlans(database)),
    ...withoutKeys.map((text) => note(`no rollups: ${text}`)),
  ];
}

/** Whether the server's words name a table, or a column as `table.column`. */
function namesIt(reason: string, name: string): boolean {
  const [table = "", column = table] = name.split(".");
  return new RegExp(`\\b(${table}|${column})\\b`).test(reason);
}

/** Prints what a check has found. Resolves to whether nothing fails. */
export function printFindings(findings: readonly Finding[]): boolean {
  for (const { fails, text } of findings) {
    if (fails) console.error(`error: ${text}`);
    else console.log(`note: ${text}`);
  }
  return findings.every(({ fails }) => !fails);
}
