/** `npm run migrate -- --check`: what is there, or is about to be adopted, and its rows. */
import type { Knex } from "knex";
import { decide, ForeignTables, foreignTables } from "../db/adoption.ts";
import { checkPlans } from "../db/contract/plans.ts";
import { checkRows, warnOfEmptyCharges } from "../db/contract/rows.ts";
import { storedTables } from "../db/contract/stored.ts";
import { pendingMigrations } from "../db/pending-migrations.ts";
import { checkContract } from "./contract.ts";
import { serviceStatements } from "./statements.ts";

/**
 * Looks at the tables of the ledger, and at the plans and the rows of those that others have made. Changes nothing.
 * Resolves to lines; with an error, answers would be wrong, slow or none.
 *
 * @param isCounted whether rows are counted, each time as long as a statement of the session may take
 */
export async function checkLedgerOf(database: Knex, isCounted = true) {
  const wrong = await checkTables(database);
  // Statements about what is wrong would only fail.
  if (wrong.length > 0) return { errors: wrong, warnings: [] };
  const stored = [...(await storedTables(database)).values()];
  const views = stored.filter(({ isView }) => isView).map(({ name }) => name);
  const adopted = new Set([...(await foreignTables(database)), ...views]);
  const plans = await checkPlans(database);
  const rows = isCounted ? await checkRows(database, adopted) : [];
  const emptyCharges = await warnOfEmptyCharges(database, adopted);
  return {
    errors: [...plans, ...rows],
    warnings: [
      ...(emptyCharges === undefined ? [] : [emptyCharges]),
      ...(isCounted ? [] : ["the rows are not counted (--skip-counts)"]),
    ],
  };
}

/** What is wrong with tables, columns and rights. Before a run of the migrations: what that would refuse. */
async function checkTables(database: Knex): Promise<readonly string[]> {
  const pending = await pendingMigrations(database);
  if (pending.length === 0) return checkContract(database, serviceStatements(true));
  try {
    await decide(database, pending);
    return [];
  } catch (error) {
    if (error instanceof ForeignTables) return error.reasons;
    throw error;
  }
}
