/** Sums of the ledger's covered rows, by segment and by month. */
import type { Knex } from "knex";
import { parseCents } from "../../db/cents.ts";
import { chargeCovered, type LedgerTable, rentalCovered } from "../coverage.ts";
import { END } from "../timeline.ts";
import type { Segment } from "./segment.ts";
import { plus, type TotalsByKey, type TotalsRow, toTotalsByKey } from "./totals-by-key.ts";

/** The totals of a segment: the charges, the starts and the ends of rentals dated in it. */
export async function sumSegment(
  reader: Knex.Transaction,
  segment: Segment,
  watermark: string,
): Promise<TotalsByKey> {
  const sum = async (totals: string, table: LedgerTable, datedBy: string, covered: string) => {
    const [rows] = await reader.raw<[TotalsRow[], unknown]>(
      `SELECT server_id, COALESCE(instance_id, 0) AS instance_id, ${totals}
       FROM ${table}
       WHERE provider_id = :provider
         AND ${datedBy} >= :from AND ${datedBy} ${segment.to === END ? "<=" : "<"} :to
         AND ${covered}
       GROUP BY server_id, instance_id`,
      { ...segment, watermark },
    );
    return toTotalsByKey(rows);
  };
  const [charge, rental] = [chargeCovered(":watermark"), rentalCovered(":watermark")];
  const totals = "SUM(gross) AS gross, COUNT(*) AS charges";
  const charges = await sum(totals, "charges", "charged_at", charge);
  const starts = await sum("COUNT(*) AS started", "rentals", "started_at", rental);
  const ends = await sum("COUNT(*) AS ended", "rentals", "ended_at", rental);
  return plus(charges, plus(starts, ends));
}

/** The last month has no checkpoint at its end, so rollups hold no sum for it. */
const LAST_MONTH = "9999-12-01 00:00:00.000";

/** The gross of a provider's covered charges by calendar month (202611), in cents. */
export async function sumMonths(
  reader: Knex.Transaction,
  provider: string,
  watermark: string,
): Promise<Map<number, bigint>> {
  const [rows] = await reader.raw(
    `SELECT EXTRACT(YEAR_MONTH FROM charged_at) AS month, SUM(gross) AS gross FROM charges
     WHERE provider_id = ? AND ${chargeCovered("?")} AND charged_at < ? GROUP BY month`,
    [provider, watermark, LAST_MONTH],
  );
  return new Map(
    rows.map((row: { month: number; gross: string }) => [row.month, parseCents(row.gross)]),
  );
}
