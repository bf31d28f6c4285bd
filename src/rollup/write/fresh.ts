/** Where in event time rows lie that become covered. */
import type { Knex } from "knex";
import { CHARGES, RENTAL_RAN, RENTALS } from "../coverage.ts";
import { byStretch } from "../stretches.ts";
import type { DatedBy } from "../sums.ts";
import { KEYS } from "./ledger.ts";
import type { Rollup } from "./state.ts";

/** Rows of a table that become covered: an instant of one, and how many. */
export interface Fresh {
  readonly table: "charges" | "rentals";
  readonly at: string;
  readonly count: string | number;
}

/**
 * The hours of what becomes covered when a rollup's watermark moves to `until`: an instant of each hour that has any, by
 * each column that dates a row.
 */
export async function readFresh(
  reader: Knex.Transaction,
  { provider, watermark }: Rollup,
  until: string,
): Promise<Fresh[]> {
  const hoursOf = (table: string, dated: DatedBy, by: keyof typeof KEYS, condition: string) =>
    `(SELECT '${table}' AS \`table\`, MIN(${dated}) AS at, COUNT(*) AS count FROM ${table} FORCE INDEX (${KEYS[by]})
      WHERE provider_id = :provider AND ${condition} GROUP BY ${byStretch(dated, "PT1H")})`;
  const charges = CHARGES.passed(":since", ":until").map(({ by, condition }) =>
    hoursOf("charges", "charged_at", by, condition),
  );
  const rentals = RENTALS.passed(":since", ":until").flatMap(({ by, condition }) =>
    (["started_at", "ended_at"] as const).map((dated) =>
      hoursOf("rentals", dated, by, `${condition} AND ${RENTAL_RAN}`),
    ),
  );
  const values = { provider, since: watermark, until };
  const [fresh] = await reader.raw([...charges, ...rentals].join(" UNION ALL "), values);
  return fresh;
}
