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
import { readBranches } from "./branches.ts";
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

/** A segment of a rollup, and the tables whose rows are read. */
export interface SegmentOf extends Segment, RollupState {
  readonly tables: readonly LedgerTable[];
  /** An earlier watermark, or the same. */
  readonly since: string;
}

/** The sums of segments, in one statement, in the order of the segments. */
export async function sumSegments(
  reader: Knex.Transaction,
  segments: readonly SegmentOf[],
): Promise<SegmentSums[]> {
  const branches = segments.flatMap((segment, nth) => {
    const { provider, from, to, tables, generation, watermark, since } = segment;
    return SUMS.filter(({ table }) => tables.includes(table)).map((sum) => {
      const { table, datedBy, gross } = sum;
      const fresh = FRESH[table];
      const covered = table === "charges" ? chargeCovered("?") : rentalCovered("?", generation);
      const marks = (sql: string, value: string) => sql.match(/\?/g)?.map(() => value) ?? [];
      const columns = SUMS.map((each) => `${each === sum ? "COUNT(*)" : "0"} AS ${each.count}`);
      return {
        sql: `(SELECT ${nth} AS segment, server_id, COALESCE(instance_id, 0) AS instance_id,
                 SUM(${gross}) AS gross, ${columns.join(", ")},
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
    });
  });
  const rows = await readBranches<SumRow>(reader, branches);
  const bySegment = Map.groupBy(rows, ({ segment }) => Number(segment));
  return segments.map((_, nth) => {
    const found = bySegment.get(nth) ?? [];
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
  const whole = { ...segment, ...covered, tables: LEDGER_TABLES, since: covered.watermark };
  const [sums] = await sumSegments(reader, [whole]);
  return sums?.totals ?? new Map();
}

interface MonthRow {
  readonly segment: string | number;
  readonly month: string | number;
  readonly gross: string;
}

/**
 * The gross of covered charges by calendar month (202611), in cents, in the order of the segments.
 * Only months with a charge.
 */
export async function sumMonths(
  reader: Knex.Transaction,
  segments: readonly Segment[],
  watermark: string,
): Promise<Map<number, bigint>[]> {
  const branches = segments.map(({ provider, from, to }, nth) => ({
    sql: `(SELECT ${nth} AS segment, EXTRACT(YEAR_MONTH FROM charged_at) AS month,
             SUM(gross) AS gross
           FROM charges
           WHERE provider_id = ? AND charged_at >= ? AND charged_at ${to === END ? "<=" : "<"} ?
             AND ${chargeCovered("?")} GROUP BY month)`,
    bindings: [provider, from, to, watermark],
  }));
  const rows = await readBranches<MonthRow>(reader, branches);
  const bySegment = Map.groupBy(rows, ({ segment }) => Number(segment));
  return segments.map((_, nth) => {
    const months = bySegment.get(nth) ?? [];
    return new Map(months.map(({ month, gross }) => [Number(month), parseCents(gross)]));
  });
}
