/** Where on the timeline rows lie that become covered. */
import type { Knex } from "knex";
import { RENTAL_RAN } from "../coverage.ts";
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
  /** Of rows whose column `by` lies in what the watermark moves over, and that match a condition. */
  const spansOf = (table: string, dated: DatedBy, by: keyof typeof KEYS, condition: string) =>
    `(SELECT '${table}' AS \`table\`, MIN(${dated}) AS \`from\`, MAX(${dated}) AS \`to\` FROM ${table} FORCE INDEX (${KEYS[by]})
      WHERE provider_id = :provider AND ${by} > :since AND ${by} <= :until AND ${condition}
      GROUP BY ${byLeaf(dated, "PT1H")})`;
  const charges = [
    spansOf("charges", "charged_at", "recorded_at", "charged_at <= :until"),
    spansOf("charges", "charged_at", "charged_at", "recorded_at <= :since"),
  ];
  const rentals = (["started_at", "ended_at"] as const).flatMap((dated) => [
    spansOf("rentals", dated, "updated_at", `ended_at <= :until AND ${RENTAL_RAN}`),
    spansOf("rentals", dated, "ended_at", `updated_at <= :since AND ${RENTAL_RAN}`),
  ]);
  const values = { provider, since: watermark, until };
  const [spans] = await reader.raw([...charges, ...rentals].join(" UNION ALL "), values);
  return spans;
}
