/** Reading many rows in pages. A tablet of Vitess returns 10,000 rows of a statement at most. */
import type { Knex } from "knex";

/** The number of rows in a page. */
const PAGE = 5_000;

/** Reads all rows of a query, which has an order. One may be missed, or come twice, if the table changes meanwhile. */
export async function readPages<Row>(query: Knex.QueryBuilder): Promise<Row[]> {
  const rows: Row[] = [];
  for (;;) {
    const page: Row[] = await query.clone().limit(PAGE).offset(rows.length);
    rows.push(...page);
    if (page.length < PAGE) return rows;
  }
}

/** The ids of all providers, in order. */
export async function readProviders(database: Knex): Promise<string[]> {
  const rows = await readPages<{ readonly id: string | number }>(
    database("providers").select("id").orderBy("id"),
  );
  return rows.map(({ id }) => String(id));
}
