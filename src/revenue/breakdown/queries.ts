/**
 * The SQL of GetServerBreakdown, as one statement each: the full query, and the query that completes
 * cached sums. The formulas are in docs/rollups.md. In its words, a result is made of
 *
 * - the sums *F* at two boundaries, `first` (s') and `last` (e', or the first instant after the
 *   watermark). `first` is `last` if no boundary lies in the period;
 * - the charges of the head, of the tail, and those between that are not covered;
 * - the covered rentals of the head and the tail, and those that are not covered.
 */
import { compileStatement } from "../../db/statement.ts";
import { RENTAL_RAN, rentalCovered } from "../../rollup/coverage.ts";
import { LAST_INSTANT } from "../../rollup/leaves.ts";
import {
  after,
  FROM_CACHE,
  FROM_LEAVES,
  instant,
  NOW,
  OWNER_SUMS,
  type RollupTerms,
  STATE,
} from "../../rollup/read/sql.ts";
import { CHARGE_SUMS, STORED_SUMS } from "../../rollup/sums.ts";
import { PERIOD_END, PERIOD_START } from "../period.ts";

const owner = { server: "server_id", instance: "COALESCE(instance_id, 0)" };

/**
 * Ends a query that adds up rows by owner. Those of a server as a whole may come twice: for the instances
 * NULL and 0. Without an order MariaDB sorts the sums.
 */
const BY_OWNER = "GROUP BY server_id, instance_id ORDER BY NULL";

/** How a statement refers to the boundaries. */
interface Terms extends RollupTerms {
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
const allButSums = ({ watermark, first, last, guard }: Terms) => ({
  state: {
    select: {
      ...STATE.select,
      first,
      last,
      /** Whether the boundaries suit the period, which begins by the database's clock. */
      fits: `${first} >= ${PERIOD_START} OR ${first} = ${last}`,
    },
    from: STATE.from,
  },
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
    from: `servers WHERE provider_id = :provider${guard}`,
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
    from: `instances WHERE provider_id = :provider${guard}`,
  },

  head: sumCharges(`charged_at >= ${PERIOD_START} AND charged_at < ${first}${guard}`),
  tail: sumCharges(
    `charged_at >= GREATEST(${last}, ${PERIOD_START}) AND charged_at <= ${PERIOD_END}${guard}`,
  ),
  /** The charges between that the sums do not hold. */
  uncovered: sumCharges(
    `recorded_at > ${watermark} AND charged_at >= ${first} AND charged_at < ${last}${guard}`,
  ),

  /**
   * Covered rentals that ended between the start and `first`: taken off the ends before `first`, or added
   * to them if it lies before the start.
   */
  endsAtHead: countRentals(
    { ended: `CASE WHEN ${first} > ${PERIOD_START} THEN -1 ELSE 1 END * COUNT(*)` },
    `ended_at >= LEAST(${first}, ${PERIOD_START}) AND ended_at < GREATEST(${first}, ${PERIOD_START})
       AND ${rentalCovered(watermark)}${guard}`,
  ),
  /** Covered rentals that started between `last` and the end. */
  startsAtTail: countRentals(
    { started: "COUNT(*)" },
    `started_at >= ${last} AND started_at <= ${PERIOD_END} AND ${rentalCovered(watermark)}${guard}`,
  ),
  /** Those of the period that were written after the watermark, and ended before it. */
  writtenRentals: countRentals(
    { started: "COUNT(*)" },
    `updated_at > ${watermark} AND ended_at <= ${watermark} AND ${RENTAL_RAN} AND ${RAN_IN_PERIOD}${guard}`,
  ),
  /** Those that end after the watermark: of the period, and running now. */
  endingRentals: countRentals(
    {
      started: countIf(RAN_IN_PERIOD),
      running: countIf(`ended_at > ${NOW}`),
    },
    `ended_at > ${watermark} AND started_at <= ${NOW} AND ${RENTAL_RAN}${guard}`,
  ),
  /** Those without an end: of the period, and running now. */
  openRentals: countRentals(
    { started: countIf(`started_at <= ${PERIOD_END}`), running: "COUNT(*)" },
    `ended_at IS NULL AND started_at <= ${NOW}${guard}`,
  ),
});

/** The sums at a boundary, an SQL expression: those at the last one up to there that is stored. */
const sumsAt = (boundary: string, { guard }: RollupTerms) => ({
  select: { ...owner, ...STORED_SUMS },
  from: `${OWNER_SUMS} AND at = (SELECT MAX(at) FROM ${OWNER_SUMS} AND at <= ${boundary})${guard}`,
});

const { watermark } = FROM_LEAVES;
const last = `CASE WHEN ${PERIOD_END} >= ${watermark} THEN ${after(watermark)} ELSE ${instant(":last")} END`;
const first = `LEAST(${instant(":first")}, ${last})`;

/**
 * The full query: the sums of the rollup, and everything to add to them. `:first` and `:last` are the
 * boundaries inside the period, of leaves of the length `:leaf`. Only the state is read if the rollup has
 * others.
 */
export const fullBreakdown = compileStatement(
  {
    ...allButSums({ ...FROM_LEAVES, first, last }),
    sumsAtFirst: sumsAt(first, FROM_LEAVES),
    sumsAtLast: sumsAt(
      `CASE WHEN ${last} > ${watermark} THEN ${instant(`'${LAST_INSTANT}'`)} ELSE ${last} END`,
      FROM_LEAVES,
    ),
  },
  ["provider", "start", "end", "leaf", "first", "last"],
  "breakdown",
);

/** The query that completes cached sums at `:first` and `:last`. */
export const uncoveredBreakdown = compileStatement(
  allButSums({ ...FROM_CACHE, first: instant(":first"), last: instant(":last") }),
  ["provider", "start", "end", "version", "watermark", "first", "last"],
  "breakdown_uncovered",
);
