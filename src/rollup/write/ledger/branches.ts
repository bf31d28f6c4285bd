/** Many SELECTs in one statement: one round trip, and one snapshot. */
import type { Knex } from "knex";

/** A SELECT in parentheses, with `?` for its bindings. */
export interface Branch {
  readonly sql: string;
  readonly bindings: readonly string[];
}

/** The rows of all branches, which have the same columns; none without branches. */
export async function readBranches<Row>(
  reader: Knex.Transaction,
  branches: readonly Branch[],
): Promise<Row[]> {
  if (branches.length === 0) return [];
  const [rows] = await reader.raw(
    branches.map(({ sql }) => sql).join(" UNION ALL "),
    branches.flatMap(({ bindings }) => bindings),
  );
  return rows;
}
