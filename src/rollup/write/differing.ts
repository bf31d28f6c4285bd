/** Comparing two sides in the database, which sends what differs alone. */
import type { Knex } from "knex";

/** A SELECT of the rows of a side, with `?` for its bindings. */
export interface Branch {
  readonly sql: string;
  readonly bindings: readonly (string | number)[];
}

/** Several, as one that has the rows of all. */
export const union = (branches: readonly Branch[]): Branch => ({
  sql: branches.map(({ sql }) => sql).join(" UNION ALL "),
  bindings: branches.flatMap(({ bindings }) => bindings),
});

/**
 * Adds up the columns of all rows by keys: of one side they are negative. Resolves to the sums that are not all zero, in
 * order of the keys.
 *
 * @param branches each has the keys and the columns in this order, and the first one their names
 */
export async function differing<Row>(
  reader: Knex.Transaction,
  keys: readonly string[],
  columns: readonly string[],
  branches: readonly Branch[],
): Promise<Row[]> {
  const { sql, bindings } = union(branches);
  const [by, sums] = [keys.join(", "), columns.map((column) => `SUM(${column}) AS ${column}`)];
  const [rows] = await reader.raw(
    `SELECT ${by}, ${sums.join(", ")} FROM (${sql}) AS sides
     GROUP BY ${by} HAVING ${columns.map((column) => `${column} <> 0`).join(" OR ")} ORDER BY ${by}`,
    [...bindings],
  );
  return rows;
}
