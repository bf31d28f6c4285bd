/** The checks that are due, and their age. */
import type { Knex } from "knex";
import { TABLES } from "../../coverage.ts";
import { FORMAT } from "../../sums.ts";
import { readPages } from "./pages.ts";

/**
 * The providers with a rollup of which a slice is due, in order of its time. A time more than a period away was set
 * for a longer period, or by a clock that had jumped: it is due.
 */
export async function findDue(
  database: Knex,
  period: number,
): Promise<{ readonly provider: string }[]> {
  const rows = await readPages<{ readonly provider_id: string | number }>(
    database(TABLES.rollups)
      .where({ format: FORMAT, building: 0 })
      .whereRaw(
        "(check_at <= UTC_TIMESTAMP(3) OR check_at > UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND)",
        Math.round(period * 1_000),
      )
      .orderBy(["check_at", "provider_id"])
      .select("provider_id"),
  );
  return rows.map(({ provider_id }) => ({ provider: String(provider_id) }));
}

/**
 * The number of rollups, and how long ago the slice was compared that was compared least recently, in ms, at most; 0
 * without a rollup. The next slice of a rollup was compared within the period before it is due. After a pause of more
 * than a period it may have been longer, until all has been compared.
 */
export async function readChecked(
  database: Knex,
  period: number,
): Promise<{ readonly rollups: number; readonly checkAge: number }> {
  const waiting = "TIMESTAMPDIFF(MICROSECOND, MIN(check_at), UTC_TIMESTAMP(3)) AS waiting";
  const { rollups, waiting: microseconds } = await database(TABLES.rollups)
    .where({ format: FORMAT, building: 0 })
    .first(database.raw(`COUNT(*) AS rollups, ${waiting}`));
  const age = microseconds === null ? 0 : Number(microseconds) / 1_000 + period;
  return { rollups: Number(rollups), checkAge: Math.max(0, age) };
}
