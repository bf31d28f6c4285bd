/**
 * Brings rollups that are up to date into the state in which `npm run rollup -- --watch 1` keeps
 * them, without waiting for it: charges have been recorded all along, a watermark is between one
 * margin and four thirds of it behind, and every second some can move.
 */
import type { Knex } from "knex";
import { MARGIN, rollUp } from "../../src/rollup/write/run.ts";

/** The share of the providers that get a charge every second. */
export const NEWS = 0.01;
/** How far watermarks are behind at most, in seconds: the margin, and the third that they wait for. */
const OLDEST = Math.round((MARGIN / 1_000) * (4 / 3));

/**
 * Moves what was recorded or dated lately back by a day, builds the rollups again, and moves the
 * watermarks back by as much as they would be behind. Then adds what would have been recorded since.
 *
 * @param perSecond how many providers get a charge every second
 */
export async function reachSteadyState(
  database: Knex,
  providers: number,
  perSecond: number,
): Promise<void> {
  for (const [table, ...columns] of [
    ["charges", "charged_at", "recorded_at"],
    ["rentals", "started_at", "ended_at", "updated_at"],
  ] as const) {
    const earlier = columns.map((column) => `${column} = ${column} - INTERVAL 1 DAY`);
    const isRecent = columns.map(
      (column) => `${column} > UTC_TIMESTAMP(3) - INTERVAL :oldest SECOND`,
    );
    await database.raw(`UPDATE ${table} SET ${earlier.join(", ")} WHERE ${isRecent.join(" OR ")}`, {
      oldest: OLDEST,
    });
  }
  await rollUp(database, { margin: 0, rebuild: true });
  await database.raw(
    `UPDATE rollups SET watermark =
       TIMESTAMPADD(MICROSECOND, -1000 * (? + FLOOR(RAND() * ?)), UTC_TIMESTAMP(3))`,
    [MARGIN, MARGIN / 3],
  );
  const each = Math.ceil((perSecond * OLDEST) / providers);
  // The LIMIT keeps the database from computing the random time twice.
  await database.raw(
    `INSERT INTO charges (provider_id, server_id, charged_at, gross, recorded_at)
     SELECT provider_id, 1, at, 1.23, at
     FROM (SELECT provider_id, watermark,
                  TIMESTAMPADD(MICROSECOND, -FLOOR(RAND() * ?), UTC_TIMESTAMP(3)) AS at
           FROM rollups CROSS JOIN (SELECT id FROM providers ORDER BY id LIMIT ${each}) AS times
           LIMIT 1000000000) AS charge
     WHERE at > watermark`,
    [OLDEST * 1_000_000],
  );
}
