/** Where on the timeline rows lie that became covered since an earlier watermark. */
import type { Knex } from "knex";
import { fromDatetime, toDatetime } from "../../../db/datetime.ts";
import { COVERED_BY, DATED_BY, type LedgerTable } from "../../coverage.ts";
import type { Span } from "../../timeline.ts";

/** Spans of the timeline, by the table whose rows became covered in them. */
export type ChangedSpans = Readonly<Record<LedgerTable, readonly Span[]>>;

interface ChangedSpan extends Span {
  readonly table: LedgerTable;
}

/**
 * How far before the earlier watermark to look for rows, in ms: a transaction that was open for
 * longer than the margin commits rows whose recording time the watermark has already passed.
 */
const LOOKBACK = 3_600_000;
/**
 * The maximum number of spans to look back at for each condition. An UPDATE of many ended rentals
 * would otherwise be looked at by every run of the hour. The check finds what is left out.
 */
const MAX_LATE_SPANS = 100;

/**
 * The spans that contain every row which is covered at the watermark `until` but was not at
 * `since`: one span for each minute that has such a row. May contain other rows too.
 */
export async function changedSpans(
  reader: Knex.Transaction,
  provider: string,
  since: string,
  until: string,
): Promise<ChangedSpans> {
  const lookback = toDatetime(Math.max(0, fromDatetime(since) - LOOKBACK));
  const windows = [
    { from: since, to: until, limit: "" },
    { from: lookback, to: since, limit: `LIMIT ${MAX_LATE_SPANS}` },
  ];
  const queries = windows.flatMap((window) =>
    (["charges", "rentals"] as const).flatMap((table) =>
      COVERED_BY[table].flatMap((coveredBy) =>
        DATED_BY[table].map((datedBy) => ({
          sql: `(SELECT '${table}' AS \`table\`, MIN(${datedBy}) AS \`from\`, MAX(${datedBy}) AS \`to\`
           FROM ${table}
           WHERE provider_id = ? AND ${coveredBy} > ? AND ${coveredBy} <= ?
             ${table === "rentals" ? "AND ended_at IS NOT NULL" : ""}
           GROUP BY DATE_FORMAT(${datedBy}, '%Y%m%d%H%i') ${window.limit})`,
          bindings: [provider, window.from, window.to],
        })),
      ),
    ),
  );
  const [rows]: ChangedSpan[][] = await reader.raw(
    queries.map(({ sql }) => sql).join(" UNION ALL "),
    queries.flatMap(({ bindings }) => bindings),
  );
  const spansIn = (table: LedgerTable) => (rows ?? []).filter((row) => row.table === table);
  return { charges: spansIn("charges"), rentals: spansIn("rentals") };
}
