/**
 * Brings rollups that are up to date into the state in which `npm run rollup -- --watch 1` keeps
 * them, without waiting for it: charges have been recorded all along, a watermark is between one
 * margin and four thirds of it behind, and every second some can move.
 */
import type { Knex } from "knex";
import { MARGIN } from "../../src/rollup/write/run.ts";

/** The share of the providers that get a charge every second. */
export const NEWS = 0.01;
/** How far watermarks are behind at most, in seconds: the margin, and the third that they wait for. */
const OLDEST = Math.round((MARGIN / 1_000) * (4 / 3));

/**
 * Moves what was recorded lately back by a day, and the watermarks by as much as they would be
 * behind. Then adds what would have been recorded since.
 *
 * @param perSecond how many providers get a charge every second
 */
export async function reachSteadyState(
  database: Knex,
  providers: number,
  perSecond: number,
): Promise<void> {
  await database.raw(
    `UPDATE charges SET recorded_at = TIMESTAMPADD(DAY, -1, recorded_at)
     WHERE recorded_at > TIMESTAMPADD(SECOND, ?, UTC_TIMESTAMP(3))`,
    [-OLDEST],
  );
  await database.raw(
    `UPDATE rollups SET cut =
       TIMESTAMPADD(MICROSECOND, -1000 * (? + FLOOR(RAND() * ?)), UTC_TIMESTAMP(3))`,
    [MARGIN, MARGIN / 3],
  );
  const each = Math.ceil((perSecond * OLDEST) / providers);
  // The LIMIT keeps the database from computing the random time twice.
  await database.raw(
    `INSERT INTO charges (provider_id, server_id, charged_at, gross, recorded_at)
     SELECT provider_id, 1, at, 1.23, at
     FROM (SELECT provider_id, cut,
                  TIMESTAMPADD(MICROSECOND, -FLOOR(RAND() * ?), UTC_TIMESTAMP(3)) AS at
           FROM rollups CROSS JOIN (SELECT id FROM providers ORDER BY id LIMIT ${each}) AS times
           LIMIT 1000000000) AS charge
     WHERE at > cut`,
    [OLDEST * 1_000_000],
  );
}
