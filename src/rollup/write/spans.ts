/** Where on the timeline rows lie that become covered. */
import type { Knex } from "knex";
import { CHARGES, RENTAL_RAN, RENTALS } from "../coverage.ts";
import type { Span } from "../leaves.ts";
import type { DatedBy } from "../sums.ts";
import { byLeaf, KEYS } from "./ledger.ts";
import type { Rollup } from "./state.ts";

/** A span, and the table whose rows lie in it. */
export interface FreshSpan extends Span {
  readonly table: "charges" | "rentals";
}

/**
 * The spans of what becomes covered when a rollup's watermark moves to `until`: one for each hour that has
 * any, by each column that dates a row. They may have other rows, too.
 */
export async function newSpans(
  reader: Knex.Transaction,
  { provider, watermark }: Rollup,
  until: string,
): Promise<FreshSpan[]> {
  const spansOf = (table: string, dated: DatedBy, by: keyof typeof KEYS, condition: string) =>
    `(SELECT '${table}' AS \`table\`, MIN(${dated}) AS \`from\`, MAX(${dated}) AS \`to\` FROM ${table} FORCE INDEX (${KEYS[by]})
      WHERE provider_id = :provider AND ${condition} GROUP BY ${byLeaf(dated, "PT1H")})`;
  const charges = CHARGES.passed(":since", ":until").map(({ by, condition }) =>
    spansOf("charges", "charged_at", by, condition),
  );
  const rentals = RENTALS.passed(":since", ":until").flatMap(({ by, condition }) =>
    (["started_at", "ended_at"] as const).map((dated) =>
      spansOf("rentals", dated, by, `${condition} AND ${RENTAL_RAN}`),
    ),
  );
  const values = { provider, since: watermark, until };
  const [spans] = await reader.raw([...charges, ...rentals].join(" UNION ALL "), values);
  return spans;
}
