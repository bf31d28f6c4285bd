/**
 * The SQL of GetServerBreakdown, as one statement each: the full query, and the query that completes
 * cached sums. The boundaries are stored ones, which the full query finds itself.
 */
import { compileStatement } from "../../db/statement.ts";
import { RENTAL_RAN, rentalCovered } from "../../rollup/coverage.ts";
import {
  after,
  BEFORE_ALL,
  CACHED_WATERMARK,
  END_OF_TIME,
  instant,
  NOW,
  OWNER_SUMS,
  STATE,
  TOTAL_SUMS,
} from "../../rollup/read/sql.ts";
import {
  CHARGE_SUMS,
  FIRST_DAY,
  millisecondsOf,
  STORED_SUMS,
  sinceFirst,
  sumsDatedBy,
} from "../../rollup/sums.ts";
import { PERIOD_END, PERIOD_START } from "../period.ts";
import { rawCharges, type Terms, termsOf, upTo } from "../raw-charges.ts";

const owner = { server: "server_id", instance: "COALESCE(instance_id, 0)" };

/**
 * Ends a query that adds up rows by owner. Those of a server as a whole may come twice: for the instances
 * NULL and 0. Without an order MariaDB sorts the sums.
 */
const BY_OWNER = "GROUP BY server_id, instance_id ORDER BY NULL";

/** Sums the charges that match an SQL condition, by owner. */
const sumCharges = (condition: string) => ({
  select: { ...owner, ...CHARGE_SUMS },
  from: `charges WHERE provider_id = :provider AND ${condition} ${BY_OWNER}`,
});

/**
 * Sums covered rentals by owner: those whose start, or end, lies between two instants (SQL expressions), the first
 * one included.
 */
const sumRentals = (
  column: "started_at" | "ended_at",
  [from, to]: readonly [from: string, to: string],
  watermark: string,
) => ({
  select: { ...owner, ...sumsDatedBy(column) },
  from: `rentals WHERE provider_id = :provider AND ${column} >= ${from} AND ${column} < ${to}
    AND ${rentalCovered(watermark)} ${BY_OWNER}`,
});

/** 1 if a condition holds for a row, else 0, added up. */
const countIf = (condition: string) => `SUM(CASE WHEN ${condition} THEN 1 ELSE 0 END)`;

/**
 * The period, up to now, in ms from the first instant. The date zero, from which a period begins that has everything,
 * is a case of its own: functions of dates take it for NULL, of which COALESCE would make the default start.
 */
const FROM = `CASE WHEN ${PERIOD_START} < ${FIRST_DAY} THEN 0 ELSE ${sinceFirst(PERIOD_START)} END`;
const UNTIL = `LEAST(${sinceFirst(PERIOD_END)} + 1, ${sinceFirst(NOW)})`;

/**
 * Counts uncovered rentals that match an SQL condition and have an end, by owner: those that ran in the period, and
 * those that run now, and how long they ran in the period.
 */
const countRentals = (rentals: string, condition: string, running = "0") => ({
  select: {
    ...owner,
    rentals,
    running,
    rented: `SUM(GREATEST(LEAST(${millisecondsOf("ended_at")}, ${UNTIL})
      - GREATEST(${millisecondsOf("started_at")}, ${FROM}), 0))`,
  },
  from: `rentals WHERE provider_id = :provider AND ${condition} ${BY_OWNER}`,
});

/**
 * Counts rentals without an end that match an SQL condition, by owner. There is one on each instance, so an expression
 * for the end of the period in each row would cost more than all else.
 */
const countOpen = <Column extends string = never>(
  condition: string,
  more = {} as Readonly<Record<Column, string>>,
) => ({
  select: { ...owner, count: "COUNT(*)", ...more },
  from: `rentals WHERE provider_id = :provider AND ended_at IS NULL AND ${condition} ${BY_OWNER}`,
});

/** SQL condition: the rental, which has an end, ran at some time of the period. */
const RAN_IN_PERIOD = `ended_at >= ${PERIOD_START} AND started_at < ${after(PERIOD_END)}`;

/** The time between `first` and the start of the period, whichever is earlier. */
const head = (first: string) =>
  [`LEAST(${first}, ${PERIOD_START})`, `GREATEST(${first}, ${PERIOD_START})`] as const;

/** All but the sums of the rollup. */
const allButSums = ({ watermark, first, last }: Terms) => ({
  state: {
    select: { ...STATE.select, start: PERIOD_START, from: FROM, until: UNTIL },
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

  ...rawCharges({ watermark, first, last }, sumCharges),

  /** Covered rentals between `first` and the start: the difference of the sums there. */
  startsAtHead: sumRentals("started_at", head(first), watermark),
  endsAtHead: sumRentals("ended_at", head(first), watermark),
  /** Covered rentals from `last` to the end. */
  startsAtTail: sumRentals("started_at", [last, after(PERIOD_END)], watermark),
  endsAtTail: sumRentals("ended_at", [last, after(PERIOD_END)], watermark),
  /** Those of the period that were written after the watermark, and ended before it. */
  writtenRentals: countRentals(
    "COUNT(*)",
    `updated_at > ${watermark} AND ended_at <= ${watermark} AND ${RENTAL_RAN} AND ${RAN_IN_PERIOD}`,
  ),
  /** Those that end after the watermark: of the period, and running now. */
  endingRentals: countRentals(
    countIf(RAN_IN_PERIOD),
    `ended_at > ${watermark} AND started_at <= ${NOW} AND ${RENTAL_RAN}`,
    countIf(`ended_at > ${NOW}`),
  ),
  /** Those without an end, which run now: that had started before the period, in it, and after it. */
  openBefore: countOpen(`started_at < ${PERIOD_START} AND started_at <= ${NOW}`),
  openSince: countOpen(`started_at >= ${PERIOD_START} AND started_at < ${after(PERIOD_END)}`, {
    started_ms: `SUM(${millisecondsOf("started_at")})`,
  }),
  openAfter: countOpen(`started_at >= ${after(PERIOD_END)} AND started_at <= ${NOW}`),
});

/** The sums at a stored boundary, an SQL expression. */
const sumsAt = (boundary: string) => ({
  select: { ...owner, ...STORED_SUMS },
  from: `${OWNER_SUMS} AND at = ${boundary}`,
});

/** The sums of the provider as a whole at a boundary of owners: its last boundary up to there. */
const totalAt = (boundary: string) => ({
  select: STORED_SUMS,
  from: `${TOTAL_SUMS} AND at <= ${boundary} ORDER BY at DESC LIMIT 1`,
});

/** The last boundary that is stored, or the first one, of those that match an SQL condition. */
const lastStored = (condition: string) => `(SELECT MAX(at) FROM ${OWNER_SUMS} AND ${condition})`;
const firstStored = (condition: string) => `(SELECT MIN(at) FROM ${OWNER_SUMS} AND ${condition})`;

/**
 * The same, as a query: as columns of one row, vtgate would plan them for seconds. Without such a boundary, its
 * row has a NULL.
 */
const stored = (which: "MIN" | "MAX", condition: string) => ({
  select: { at: `${which}(at)` },
  from: `${OWNER_SUMS} AND ${condition}`,
});

/** The conditions of the boundaries in the period. */
const [FROM_START, UP_TO_END] = [`at >= ${PERIOD_START}`, `at <= ${after(PERIOD_END)}`];
const terms = termsOf(
  `COALESCE(${firstStored(FROM_START)}, ${END_OF_TIME})`,
  `COALESCE(${lastStored(UP_TO_END)}, ${instant(`'${BEFORE_ALL}'`)})`,
);
/** The boundary of the sums at `last`. */
const lastRead = lastStored(`at <= ${upTo(after(PERIOD_END))}`);

/** The full query: the sums of the rollup, and everything to add to them. */
export const fullBreakdown = compileStatement(
  {
    ...allButSums(terms),
    /** What `terms` is made of. */
    firstStored: stored("MIN", FROM_START),
    lastStored: stored("MAX", UP_TO_END),
    /** The boundaries before the start and after the end: the same two suit any period between. */
    previous: stored("MAX", `at < ${PERIOD_START}`),
    next: stored("MIN", `at > ${after(PERIOD_END)}`),
    sumsAtFirst: sumsAt(terms.first),
    sumsAtLast: sumsAt(lastRead),
    /** What the owners together must have there. */
    totalAtFirst: totalAt(terms.first),
    totalAtLast: totalAt(lastRead),
  },
  ["provider", "start", "end"],
  "breakdown",
);

/** The query that completes sums at `:first` and `:last`. */
export const uncoveredBreakdown = compileStatement(
  allButSums({ watermark: CACHED_WATERMARK, first: instant(":first"), last: instant(":last") }),
  ["provider", "start", "end", "watermark", "first", "last"],
  "breakdown_uncovered",
);
