/** Sums of the ledger's covered rows, by segment and by month. */
import type { Knex } from "knex";
import { parseCents } from "../../../db/cents.ts";
import {
  chargeCovered,
  LEDGER_TABLES,
  type LedgerTable,
  type RollupState,
  rentalCovered,
} from "../../coverage.ts";
import { END } from "../../timeline.ts";
import { plus, type TotalsByKey, type TotalsRow, toTotalsByKey } from "../totals-by-key.ts";
import type { Segment } from "./segment.ts";

/** The sums of a segment: of the charges, the starts and the ends of rentals dated in it. */
export interface SegmentSums {
  /** What is covered at the watermark. */
  readonly totals: TotalsByKey;
  /** The part of it that was written, or ended, after the earlier watermark. */
  readonly fresh: TotalsByKey;
}

interface SumRow extends TotalsRow {
  readonly segment: string | number;
  readonly fresh_gross: string;
  readonly fresh_count: string | number;
}

/** What is summed of a table, by the column that places a row on the timeline. */
const SUMS = [
  { table: "charges", datedBy: "charged_at", gross: "gross", count: "charges" },
  { table: "rentals", datedBy: "started_at", gross: "0.00", count: "started" },
  { table: "rentals", datedBy: "ended_at", gross: "0.00", count: "ended" },
] as const;

/** SQL condition, with one `?` for each `>`: the row was not covered at an earlier watermark. */
const FRESH: Readonly<Record<LedgerTable, string>> = {
  charges: "recorded_at > ?",
  rentals: "(updated_at > ? OR ended_at > ?)",
};

/** A segment, and the tables whose rows are summed. */
export interface SegmentOf extends Segment {
  readonly tables: readonly LedgerTable[];
}

/**
 * The sums of segments, in one statement, in the order of the segments.
 *
 * @param since an earlier watermark, or the same
 */
export async function sumSegments(
  reader: Knex.Transaction,
  segments: readonly SegmentOf[],
  { generation, watermark }: RollupState,
  since: string,
): Promise<SegmentSums[]> {
  const branches = segments.flatMap(({ provider, from, to, tables }, index) =>
    SUMS.filter(({ table }) => tables.includes(table)).map(({ table, datedBy, gross, count }) => {
      const fresh = FRESH[table];
      const covered = table === "charges" ? chargeCovered("?") : rentalCovered("?", generation);
      const marks = (sql: string, value: string) => sql.match(/\?/g)?.map(() => value) ?? [];
      const columns = SUMS.map((sum) => (sum.count === count ? "COUNT(*)" : "0"));
      return {
        sql: `(SELECT ${index} AS segment, server_id, COALESCE(instance_id, 0) AS instance_id,
                 SUM(${gross}) AS gross,
                 ${columns.map((sql, i) => `${sql} AS ${SUMS[i]?.count}`).join(", ")},
                 SUM(CASE WHEN ${fresh} THEN ${gross} ELSE 0.00 END) AS fresh_gross,
                 SUM(CASE WHEN ${fresh} THEN 1 ELSE 0 END) AS fresh_count
               FROM ${table}
               WHERE provider_id = ? AND ${datedBy} >= ? AND ${datedBy} ${to === END ? "<=" : "<"} ?
                 AND ${covered}
               GROUP BY server_id, instance_id)`,
        bindings: [
          ...marks(fresh + fresh, since),
          ...[provider, from, to],
          ...marks(covered, watermark),
        ],
      };
    }),
  );
  const [rows]: SumRow[][] = await reader.raw(
    branches.map(({ sql }) => sql).join(" UNION ALL "),
    branches.flatMap(({ bindings }) => bindings),
  );
  const bySegment = Map.groupBy(rows ?? [], ({ segment }) => Number(segment));
  return segments.map((_, index) => {
    const found = bySegment.get(index) ?? [];
    return { totals: sumOf(found), fresh: sumOf(found.map(freshPart)) };
  });
}

/** Rows of charges, starts and ends repeat keys. */
function sumOf(rows: readonly TotalsRow[]): TotalsByKey {
  const parts = SUMS.map(({ count }) => rows.filter((row) => Number(row[count]) > 0));
  return parts.map(toTotalsByKey).reduce(plus);
}

function freshPart({ fresh_gross, fresh_count, ...row }: SumRow): TotalsRow {
  const counts = SUMS.map(({ count }) => [count, Number(row[count]) > 0 ? fresh_count : 0]);
  return { ...row, gross: fresh_gross, ...Object.fromEntries(counts) };
}

/** The totals of one segment. */
export async function sumSegment(
  reader: Knex.Transaction,
  segment: Segment,
  covered: RollupState,
): Promise<TotalsByKey> {
  const whole = { ...segment, tables: LEDGER_TABLES };
  const [sums] = await sumSegments(reader, [whole], covered, covered.watermark);
  return sums?.totals ?? new Map();
}

/**
 * The gross of a segment's covered charges by calendar month (202611), in cents. Only months with
 * a charge.
 */
export async function sumMonths(
  reader: Knex.Transaction,
  { provider, from, to }: Segment,
  watermark: string,
): Promise<Map<number, bigint>> {
  const [rows] = await reader.raw(
    `SELECT EXTRACT(YEAR_MONTH FROM charged_at) AS month, SUM(gross) AS gross FROM charges
     WHERE provider_id = ? AND charged_at >= ? AND charged_at ${to === END ? "<=" : "<"} ?
       AND ${chargeCovered("?")} GROUP BY month`,
    [provider, from, to, watermark],
  );
  return new Map(
    rows.map((row: { month: number; gross: string }) => [row.month, parseCents(row.gross)]),
  );
}
