/**
 * SQL expressions that refer to a provider's rollup, for the queries of the RPCs.
 *
 * A result is made of sums at boundaries, and of the rows that these do not hold. One statement selects
 * all of it together with the watermark, or the rest together with the version, if the sums are cached. So
 * late charges, backfills and a stalled rollup do not change the result, as long as writers keep to
 * what docs/rollups.md assumes of them. Without a rollup, every row is uncovered.
 *
 * Each scalar subquery reads one index entry. MySQL and MariaDB evaluate such a subquery as a
 * constant before they choose a plan. The database's clock stands still during a statement.
 */
import { FIRST_INSTANT, LAST_INSTANT } from "../../db/datetime.ts";
import { NO_VERSION, TABLES, type UsedRollup } from "../coverage.ts";
import { FORMAT } from "../sums.ts";

/** The instant of a statement. Nothing that is dated after it counts. */
export const NOW = "UTC_TIMESTAMP(3)";

/** Before every date, also the date zero of a writer without a strict `sql_mode`. */
export const BEFORE_ALL = "0000-00-00 00:00:00.000";

/** A parameter or a text as an instant. */
export const instant = (sql: string): string => `CAST(${sql} AS DATETIME(3))`;

/** After every covered row. */
export const END_OF_TIME = instant(`'${LAST_INSTANT}'`);

/** The first instant after one. */
export const after = (sql: string): string => instant(`${sql} + INTERVAL 1000 MICROSECOND`);

/**
 * What follows FROM for the provider's rollup. A watermark ahead of the database's clock cannot be
 * true: such a rollup is treated like none, and the next run builds another one.
 */
const ROLLUP = `${TABLES.rollups} WHERE provider_id = :provider AND format = ${FORMAT} AND building = 0
    AND watermark <= ${NOW}`;

/** The watermark, from the rollup's row; without one, everything is uncovered. */
const watermarkFrom = (row: string) =>
  `COALESCE((SELECT watermark FROM ${row}), ${instant(`'${FIRST_INSTANT}'`)})`;

/** The watermark, for a statement that reads sums of the rollup. */
export const WATERMARK = watermarkFrom(ROLLUP);
/** The same for a statement that uses no rollup but one that matches an SQL condition. */
export const watermarkIf = (condition: string): string =>
  watermarkFrom(`${ROLLUP} AND ${condition}`);

/** The watermark that cached sums were read with, for a statement that completes them. */
export const CACHED_WATERMARK = instant(":watermark");

/** What follows FROM for the sums of the provider's rollup: of its owners, or of it as a whole. */
const sums = (total: 0 | 1) =>
  `${TABLES.sums} WHERE provider_id = :provider AND format = ${FORMAT}
    AND slot = (SELECT slot FROM ${ROLLUP}) AND total = ${total}`;
export const OWNER_SUMS = sums(0);
export const TOTAL_SUMS = sums(1);

/** The last stored boundary of owners. The sums there are those at the watermark. */
export const LATEST_BOUNDARY = `(SELECT MAX(at) FROM ${OWNER_SUMS})`;

/** The provider's row, and the instant. The aggregates make it one row, of NULLs, without a rollup. */
export const STATE = {
  select: { version: "MAX(version)", watermark: "MAX(watermark)", now: NOW },
  from: ROLLUP,
};

/** The rollup that a statement used, from its row of `STATE`. */
export function usedRollup({ version, watermark }: UsedRollup): UsedRollup {
  return version === ""
    ? { version: NO_VERSION, watermark: FIRST_INSTANT }
    : { version, watermark };
}
