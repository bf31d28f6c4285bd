/** Reading many rows in pages. A tablet of Vitess returns 10,000 rows of a statement at most. */
import type { Knex } from "knex";

/** The number of rows in a page. */
const PAGE = 5_000;

/**
 * Reads all rows of a query.
 *
 * @param query makes the query of a page: of all rows after one, or from the first row on, in the order of a key
 */
export async function readPages<Row>(
  query: (after: Row | undefined) => Knex.QueryBuilder,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (;;) {
    const page: Row[] = await query(rows.at(-1)).limit(PAGE);
    rows.push(...page);
    if (page.length < PAGE) return rows;
  }
}

/** The ids of all providers, in order. */
export async function readProviders(database: Knex): Promise<string[]> {
  const rows = await readPages<{ readonly id: string | number }>((after) =>
    database("providers")
      .select("id")
      .where((where) => after && where.where("id", ">", after.id))
      .orderBy("id"),
  );
  return rows.map(({ id }) => String(id));
}
