/** Where on the timeline rows lie that became covered since an earlier watermark. */
import type { Knex } from "knex";
import { COVERED_BY, DATED_BY } from "../coverage.ts";
import type { Span } from "../timeline.ts";

/**
 * The spans that contain every row which is covered at the watermark `until` but was not at
 * `since`: one span for each minute that has such a row. May contain other rows too.
 */
export async function changedSpans(
  reader: Knex.Transaction,
  provider: string,
  since: string,
  until: string,
): Promise<Span[]> {
  const queries = (["charges", "rentals"] as const).flatMap((table) =>
    COVERED_BY[table].flatMap((coveredBy) =>
      DATED_BY[table].map(
        (datedBy) =>
          `(SELECT MIN(${datedBy}) AS \`from\`, MAX(${datedBy}) AS \`to\`
           FROM ${table}
           WHERE provider_id = ? AND ${coveredBy} > ? AND ${coveredBy} <= ?
             ${table === "rentals" ? "AND ended_at IS NOT NULL" : ""}
           GROUP BY DATE_FORMAT(${datedBy}, '%Y%m%d%H%i'))`,
      ),
    ),
  );
  const [rows] = await reader.raw(
    queries.join(" UNION ALL "),
    queries.flatMap(() => [provider, since, until]),
  );
  return rows;
}
