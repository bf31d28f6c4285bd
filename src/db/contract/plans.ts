/**
 * Which views of the ledger read all rows of a table for one provider. The server explains that only to an account
 * that may also see the view and read what is behind it.
 */
import type { Knex } from "knex";
import type { Connection } from "mysql2";
import { LEDGER } from "./ledger.ts";
import { storedTables } from "./stored.ts";

/** A row of EXPLAIN, with these columns among others. */
type Step = Readonly<Record<"table" | "type" | "rows", string | number | null>>;

/** The rows of a table, by the server's estimate, up to which each call may read all of them. */
const FEW = 1_000;

/** The errors of an account that may not see how a view is read. */
const HIDDEN = new Set([1142, 1143, 1345]);

/** Explains how the rows of a provider are found in each view. Resolves to a line for each that reads all of a table. */
export async function checkPlans(database: Knex): Promise<string[]> {
  const stored = await storedTables(database);
  const client: Knex.Client = database.client;
  const connection: Connection = await client.acquireConnection();
  try {
    const lines: string[] = [];
    for (const [name, { columns, lookup }] of Object.entries(LEDGER)) {
      if (!stored.get(name)?.isView) continue;
      const [owner] = lookup;
      const sql = `SELECT ${Object.keys(columns).join(", ")} FROM ${name} WHERE ${owner} = ?`;
      for (const table of new Set(scansOf(await explain(connection, sql)))) {
        lines.push(
          `${name}.${owner}: the view reads all of ${table} for one provider: the column behind ${owner} must be a plain one, with a key that begins with it, and of BIGINT where the view has UNION or GROUP BY on MariaDB`,
        );
      }
    }
    return lines;
  } finally {
    client.releaseConnection(connection);
  }
}

/**
 * The plan of a statement that is prepared, as the service sends it: into a view with UNION or GROUP BY, MariaDB pushes
 * each literal, but a parameter only if the column is a BIGINT. Empty if the account may not see it.
 */
async function explain(connection: Connection, sql: string): Promise<readonly Step[]> {
  try {
    const explained = `EXPLAIN FORMAT=TRADITIONAL ${sql}`;
    const [steps] = await connection.promise().execute(explained, ["0"]);
    return steps as unknown as readonly Step[];
  } catch (error) {
    if (HIDDEN.has((error as { errno?: number }).errno ?? 0)) return [];
    throw error;
  }
}

/** The tables of which a plan reads all rows, and these are many. */
function scansOf(steps: readonly Step[]): string[] {
  return steps.flatMap(({ table, type, rows }) =>
    typeof table === "string" &&
    !table.startsWith("<") &&
    /^(ALL|index)$/.test(String(type)) &&
    Number(rows) > FEW
      ? [table]
      : [],
  );
}
