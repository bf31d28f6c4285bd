/**
 * The SQL of GetServerBreakdown, as one statement each: the full query, the query that completes
 * cached totals, and one for checkpoints, which the full query needs. A result is made of:
 *
 * - the prefix sums at both edges of the period: the totals of the covered rows that are dated up to
 *   the end, and up to the last instant before the start. Each is the totals of the rollup at a
 *   checkpoint nearby, and the covered rows between the two; or a cached one, of an earlier instant,
 *   and the covered charges since;
 * - the rows that the rollup does not cover;
 * - the rentals without an end, which no rollup covers.
 *
 * Cached prefix sums are of charges only: the rentals between an edge and its checkpoint are few and
 * are read again.
 */
import { compileStatement } from "../../db/statement.ts";
import { chargeCovered, RENTAL_RAN, rentalHeld, rentalUnchanged } from "../../rollup/coverage.ts";
import {
  checkpointAfter,
  checkpointBefore,
  FROM_BOTH,
  FROM_CACHE,
  IS_CACHED,
  LATEST_CHECKPOINTS,
  type RollupTerms,
  STATE,
  totalsAt,
} from "../../rollup/read/sql.ts";
import { STABILITY } from "../../rollup/stability.ts";

const owner = { server: "server_id", instance: "instance_id" };

/** Ends a query that adds up rows by owner. Otherwise MariaDB sorts the sums. */
const BY_OWNER = "GROUP BY server_id, instance_id ORDER BY NULL";

/** Sums the charges that match an SQL condition, by owner. */
const sumCharges = (condition: string) => ({
  select: { ...owner, gross: "SUM(gross)", charges: "COUNT(*)" },
  from: `charges WHERE provider_id = :provider AND ${condition} ${BY_OWNER}`,
});

const COUNT = { count: "COUNT(*)" };

/** Counts the rentals that match an SQL condition, by owner. `counts` are the columns to select. */
const countRentals = <Counts extends Record<string, string>>(
  counts: Counts,
  condition: string,
) => ({
  select: { ...owner, ...counts },
  from: `rentals WHERE provider_id = :provider AND ${condition} ${BY_OWNER}`,
});

/** SQL condition: the rental ran at some time of the period, and has an end. */
const RAN_IN_PERIOD = `ended_at > :before AND started_at <= :end AND ${RENTAL_RAN}`;

/** SQL condition: an instant lies between two others, of which the later one is included. */
const isBetween = (instant: string, one: string, other: string) =>
  `${instant} > LEAST(${one}, ${other}) AND ${instant} <= GREATEST(${one}, ${other})`;

/**
 * The number and the gross of the charges between the instant of a cached prefix sum and the totals
 * that it was made from: "3 12.50". Not read if it is outdated, or if `:verify` is not "1".
 */
const verified = (edge: "start" | "end", { watermark }: RollupTerms) => `
  CASE WHEN :verify = '1' AND ${IS_CACHED} THEN (
    SELECT CONCAT(COUNT(*), ' ', COALESCE(SUM(gross), 0.00)) FROM charges
    WHERE provider_id = :provider AND ${isBetween("charged_at", `:${edge}From`, `:${edge}Last`)}
      AND ${chargeCovered(watermark)}) END`;

/**
 * All but the totals of the rollup. The parameters of an edge (`:before` and `:end`) are:
 *
 * - `:startFrom` and `:endFrom`: the instant up to which charges are known, from a cached prefix sum
 *   or from the totals at a checkpoint;
 * - `:startLast` and `:endLast`: the last instant that the totals at the checkpoint count. Rentals
 *   are known up to there.
 */
const allButTotals = (terms: RollupTerms) => {
  const { watermark, generation, guard } = terms;
  return {
    /** The rollup's state and stability; what cached prefix sums are verified with. */
    state: {
      select: {
        ...STATE.select,
        stability: STABILITY,
        verifiedAtStart: verified("start", terms),
        verifiedAtEnd: verified("end", terms),
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

    /** The covered charges between what is known and the edge. */
    chargesAtStart: sumCharges(
      `${isBetween("charged_at", ":startFrom", ":before")} AND ${chargeCovered(watermark)}`,
    ),
    chargesAtEnd: sumCharges(
      `${isBetween("charged_at", ":endFrom", ":end")} AND ${chargeCovered(watermark)}`,
    ),
    /** The covered rentals that ended between the start and its checkpoint. */
    endsAtStart: countRentals(
      COUNT,
      `${isBetween("ended_at", ":before", ":startLast")} AND ${rentalUnchanged(watermark)}`,
    ),
    /** The covered rentals that started between the end and its checkpoint. */
    startsAtEnd: countRentals(
      COUNT,
      `${isBetween("started_at", ":end", ":endLast")} AND ${rentalUnchanged(watermark)}`,
    ),

    /** The uncovered charges of the period. */
    uncoveredCharges: sumCharges(
      `recorded_at > ${watermark} AND charged_at > :before AND charged_at <= :end${guard}`,
    ),
    /**
     * The rentals of the period that have an end and were written after the watermark, without those
     * that the totals at the checkpoints count already: they are listed, and had started by that of
     * the end, and not ended by that of the start. Either checkpoint may be the earlier one.
     */
    writtenRentals: countRentals(
      {
        count: `SUM(CASE WHEN ${RAN_IN_PERIOD} THEN 1 ELSE 0 END
          - CASE WHEN ${generation} > 0 AND ${rentalHeld(generation)}
              THEN (started_at <= :endLast) - (ended_at <= :startLast) ELSE 0 END)`,
      },
      // Without a rollup there is no list, and what ran outside the period is not read.
      `updated_at > ${watermark} AND ${RENTAL_RAN}
         AND started_at <= CASE WHEN ${generation} > 0 THEN GREATEST(:end, :startLast, :endLast) ELSE :end END
         AND ended_at > CASE WHEN ${generation} > 0 THEN LEAST(:before, :startLast, :endLast) ELSE :before END
         ${guard}`,
    ),
    /** The rentals of the period that were written before the watermark, but end after it. */
    endingRentals: countRentals(
      COUNT,
      `ended_at > ${watermark} AND updated_at <= ${watermark} AND ${RAN_IN_PERIOD}${guard}`,
    ),
    /** The rentals without an end that ran in the period, and those of them that run now. */
    openRentals: countRentals(
      {
        count: "SUM(CASE WHEN started_at <= :end THEN 1 ELSE 0 END)",
        running: "SUM(CASE WHEN started_at <= :now THEN 1 ELSE 0 END)",
      },
      `ended_at IS NULL${guard}`,
    ),
    /** The rentals that run now and have an end, whatever the period. */
    runningRentals: countRentals({ running: "COUNT(*)" }, "ended_at > :now AND started_at <= :now"),
  };
};

/** The parameters of the statements that read. */
const PARAMETERS = [
  "provider",
  "before",
  "end",
  "now",
  "rollup",
  "verify",
  "startFrom",
  "startLast",
  "endFrom",
  "endLast",
] as const;

/** One row: the checkpoints around both edges. */
const CHECKPOINTS = {
  select: {
    beforeStart: checkpointBefore(":before"),
    afterStart: checkpointAfter(":before"),
    beforeEnd: checkpointBefore(":end"),
    afterEnd: checkpointAfter(":end"),
  },
  from: "DUAL",
};

/** The totals at the checkpoint of an edge. */
const totalsAtEdge = (checkpoint: string) => ({
  select: { ...owner, gross: "gross", charges: "charges", started: "started", ended: "ended" },
  from: `${totalsAt(checkpoint)}${FROM_BOTH.guard}`,
});

/**
 * The full query: the totals at the checkpoints `:startTotals` and `:endTotals`, and everything to
 * add to them or take off. At an edge with a cached prefix sum that is `START`: there are none.
 */
export const fullBreakdown = compileStatement(
  {
    ...allButTotals(FROM_BOTH),
    checkpoints: CHECKPOINTS,
    totalsAtStart: totalsAtEdge(":startTotals"),
    totalsAtEnd: totalsAtEdge(":endTotals"),
  },
  [...PARAMETERS, "startTotals", "endTotals"],
  "breakdown",
);

/** The query that completes cached prefix sums at both edges. */
export const uncoveredBreakdown = compileStatement(
  allButTotals(FROM_CACHE),
  [...PARAMETERS, "watermark"],
  "breakdown_uncovered",
);

/** The query for the checkpoints around both edges, and for the latest ones. */
export const breakdownCheckpoints = compileStatement(
  {
    checkpoints: CHECKPOINTS,
    latest: { select: { at: "at" }, from: LATEST_CHECKPOINTS },
  },
  ["provider", "before", "end"],
  "breakdown_checkpoints",
);
