/**
 * The SQL of GetServerBreakdown, as one statement each: the full query, and the query that completes
 * cached sums. The formulas are in docs/rollups.md. In its words, a result is made of
 *
 * - the sums *F* at two stored boundaries, `first` (s') and `last` (e', or the first instant after the
 *   watermark, which stands for the last one there is). `first` is `last` if none lies in the period;
 * - the charges of the head, of the tail, and those between that are not covered;
 * - the covered rentals of the head and the tail, and those that are not covered.
 */
import { compileStatement } from "../../db/statement.ts";
import { RENTAL_RAN, rentalCovered } from "../../rollup/coverage.ts";
import { LAST_INSTANT } from "../../rollup/leaves.ts";
import {
  after,
  BEFORE_ALL,
  CACHED_WATERMARK,
  instant,
  NOW,
  OWNER_SUMS,
  STATE,
  WATERMARK,
} from "../../rollup/read/sql.ts";
import { CHARGE_SUMS, STORED_SUMS } from "../../rollup/sums.ts";
import { PERIOD_END, PERIOD_START } from "../period.ts";

const owner = { server: "server_id", instance: "COALESCE(instance_id, 0)" };

/**
 * Ends a query that adds up rows by owner. Those of a server as a whole may come twice: for the instances
 * NULL and 0. Without an order MariaDB sorts the sums.
 */
const BY_OWNER = "GROUP BY server_id, instance_id ORDER BY NULL";

/** How a statement refers to the watermark and the boundaries, as SQL expressions. */
interface Terms {
  readonly watermark: string;
  readonly first: string;
  readonly last: string;
}

/** Sums the charges that match an SQL condition, by owner. */
const sumCharges = (condition: string) => ({
  select: { ...owner, ...CHARGE_SUMS },
  from: `charges WHERE provider_id = :provider AND ${condition} ${BY_OWNER}`,
});

/** Counts the rentals that match an SQL condition, by owner. `counts` are the columns to select. */
const countRentals = <Counts extends Record<string, string>>(
  counts: Counts,
  condition: string,
) => ({
  select: { ...owner, ...counts },
  from: `rentals WHERE provider_id = :provider AND ${condition} ${BY_OWNER}`,
});

/** 1 if a condition holds for a row, else 0, added up. */
const countIf = (condition: string) => `SUM(CASE WHEN ${condition} THEN 1 ELSE 0 END)`;

/** SQL condition: the rental, which has an end, ran at some time of the period. */
const RAN_IN_PERIOD = `ended_at >= ${PERIOD_START} AND started_at <= ${PERIOD_END}`;

/** All but the sums of the rollup. */
const allButSums = ({ watermark, first, last }: Terms) => ({
  state: { select: { ...STATE.select, first, last }, from: STATE.from },
  /** Every server, including deleted ones. */
  servers: {
    select: {
      id: "id",
      uuid: "uuid",
      name: "name",
      type: "type",
      status: "status",
      deleted: "deleted_at IS NOT NULL",
    },
    from: `servers WHERE provider_id = :provider`,
  },
  /** Every instance, including deleted ones. */
  instances: {
    select: {
      id: "id",
      server: "server_id",
      publicId: "public_id",
      name: "name",
      deleted: "deleted_at IS NOT NULL",
    },
    from: `instances WHERE provider_id = :provider`,
  },

  head: sumCharges(`charged_at >= ${PERIOD_START} AND charged_at < ${first}`),
  tail: sumCharges(
    `charged_at >= GREATEST(${last}, ${PERIOD_START}) AND charged_at <= ${PERIOD_END}`,
  ),
  /** The charges between that the sums do not hold. */
  uncovered: sumCharges(
    `recorded_at > ${watermark} AND charged_at >= ${first} AND charged_at < ${last}`,
  ),

  /**
   * Covered rentals that ended between the start and `first`: taken off the ends before `first`, or added
   * to them if it lies before the start.
   */
  endsAtHead: countRentals(
    { ended: `CASE WHEN ${first} > ${PERIOD_START} THEN -1 ELSE 1 END * COUNT(*)` },
    `ended_at >= LEAST(${first}, ${PERIOD_START}) AND ended_at < GREATEST(${first}, ${PERIOD_START})
       AND ${rentalCovered(watermark)}`,
  ),
  /** Covered rentals that started between `last` and the end. */
  startsAtTail: countRentals(
    { started: "COUNT(*)" },
    `started_at >= ${last} AND started_at <= ${PERIOD_END} AND ${rentalCovered(watermark)}`,
  ),
  /** Those of the period that were written after the watermark, and ended before it. */
  writtenRentals: countRentals(
    { started: "COUNT(*)" },
    `updated_at > ${watermark} AND ended_at <= ${watermark} AND ${RENTAL_RAN} AND ${RAN_IN_PERIOD}`,
  ),
  /** Those that end after the watermark: of the period, and running now. */
  endingRentals: countRentals(
    {
      started: countIf(RAN_IN_PERIOD),
      running: countIf(`ended_at > ${NOW}`),
    },
    `ended_at > ${watermark} AND started_at <= ${NOW} AND ${RENTAL_RAN}`,
  ),
  /** Those without an end: of the period, and running now. */
  openRentals: countRentals(
    { started: countIf(`started_at <= ${PERIOD_END}`), running: "COUNT(*)" },
    `ended_at IS NULL AND started_at <= ${NOW}`,
  ),
});

/** The sums at a stored boundary, an SQL expression. */
const sumsAt = (boundary: string) => ({
  select: { ...owner, ...STORED_SUMS },
  from: `${OWNER_SUMS} AND at = ${boundary}`,
});

/** The last boundary that is stored, and the first one, of those that match an SQL condition. */
const lastStored = (condition: string) => `(SELECT MAX(at) FROM ${OWNER_SUMS} AND ${condition})`;
const firstStored = (condition: string) => `(SELECT MIN(at) FROM ${OWNER_SUMS} AND ${condition})`;

const END_OF_TIME = instant(`'${LAST_INSTANT}'`);
/** SQL condition: the period has everything that is covered. */
const REACHES_WATERMARK = `${PERIOD_END} >= ${WATERMARK}`;
const last = `CASE WHEN ${REACHES_WATERMARK} THEN ${after(WATERMARK)}
  ELSE COALESCE(${lastStored(`at <= ${after(PERIOD_END)}`)}, ${instant(`'${BEFORE_ALL}'`)}) END`;
const first = `LEAST(COALESCE(${firstStored(`at >= ${PERIOD_START}`)}, ${END_OF_TIME}), ${last})`;

const others = allButSums({ watermark: WATERMARK, first, last });

/** The full query: the sums of the rollup, and everything to add to them. */
export const fullBreakdown = compileStatement(
  {
    ...others,
    state: {
      ...others.state,
      select: {
        ...others.state.select,
        /** The boundaries before the start and after the end: the same two suit any period between. */
        previous: lastStored(`at < ${PERIOD_START}`),
        next: firstStored(`at > ${after(PERIOD_END)}`),
      },
    },
    sumsAtFirst: sumsAt(first),
    sumsAtLast: sumsAt(
      lastStored(
        `at <= CASE WHEN ${REACHES_WATERMARK} THEN ${END_OF_TIME} ELSE ${after(PERIOD_END)} END`,
      ),
    ),
  },
  ["provider", "start", "end"],
  "breakdown",
);

/** The query that completes cached sums at `:first` and `:last`. */
export const uncoveredBreakdown = compileStatement(
  allButSums({ watermark: CACHED_WATERMARK, first: instant(":first"), last: instant(":last") }),
  ["provider", "start", "end", "watermark", "first", "last"],
  "breakdown_uncovered",
);
