/** Whether the account of the service may run each of its statements: each is prepared, and none is run. */
import type { Knex } from "knex";
import type { Connection } from "mysql2";
import { isVitess } from "../session.ts";

/** Statements by name. */
export type Statements = Readonly<Record<string, string>>;

/** A statement that the server refuses, and its words for why. */
export interface Refusal {
  readonly statement: string;
  readonly reason: string;
}

/** A view that names what is not there any more, or what its definer may not read. */
const BROKEN_VIEW = 1356;

/**
 * Prepares statements, and resolves to those that the server refuses: because a right, a table or a column is missing.
 * Of several with one reason only the first is listed. Rejects with the driver's error if the database is unavailable.
 *
 * vtgate prepares nothing before it has values, so there every statement passes.
 */
export async function refusedStatements(
  database: Knex,
  statements: Statements,
): Promise<readonly Refusal[]> {
  const client: Knex.Client = database.client;
  const connection: Connection = await client.acquireConnection();
  try {
    if (isVitess(connection)) return [];
    const refused = new Map<string, Refusal>();
    for (const [statement, sql] of Object.entries(statements)) {
      const reason = await whyRefused(connection, sql);
      if (reason !== undefined && !refused.has(reason)) refused.set(reason, { statement, reason });
    }
    return [...refused.values()];
  } finally {
    client.releaseConnection(connection);
  }
}

async function whyRefused(connection: Connection, sql: string): Promise<string | undefined> {
  try {
    await connection.promise().prepare(sql);
    // The driver keeps what it has prepared, and would not ask again.
    connection.unprepare(sql);
    return undefined;
  } catch (error) {
    if (!(error instanceof Error && "sqlState" in error && "errno" in error)) throw error;
    const isRefusal = String(error.sqlState).startsWith("42") || error.errno === BROKEN_VIEW;
    if (!isRefusal) throw error;
    return error.message;
  }
}

/** A refusal, in a line. */
export function describeRefusal({ statement, reason }: Refusal): string {
  return `the statement ${statement} is refused: ${reason}: grant the account its rights (docs/deployment.md, "Database accounts"), or see \`npm start -- --check\``;
}
