/**
 * The SQL of GetServerBreakdown, as one statement each: the full query, and the query that
 * completes cached totals. A result adds up four regions:
 *
 * - the totals of the rollup at the last checkpoint before each edge of the period, or the cached
 *   totals of an earlier period;
 * - the covered rows between there and the edges;
 * - the rows that the rollup does not cover;
 * - the rentals without an end, which no rollup covers.
 */
import { compileStatement } from "../../db/statement.ts";
import { chargeCovered, RENTAL_RAN, rentalCovered } from "../../rollup/coverage.ts";
import {
  checkpointAfter,
  checkpointBefore,
  FROM_CACHE,
  FROM_TABLES,
  type RollupTerms,
  STATE,
  totalsAt,
} from "../../rollup/read/sql.ts";

const owner = { server: "server_id", instance: "instance_id" };

/** Sums the charges that match an SQL condition, by owner. */
const sumCharges = (condition: string) => ({
  select: { ...owner, gross: "SUM(gross)", charges: "COUNT(*)" },
  from: `charges WHERE provider_id = :provider AND ${condition} GROUP BY server_id, instance_id`,
});

const COUNT = { count: "COUNT(*)" };

/** Counts the rentals that match an SQL condition, by owner. `counts` are the columns to select. */
const countRentals = <Counts extends Record<string, string>>(
  counts: Counts,
  condition: string,
) => ({
  select: { ...owner, ...counts },
  from: `rentals WHERE provider_id = :provider AND ${condition} GROUP BY server_id, instance_id`,
});

/** SQL condition: the rental ran at some time of the period, and has an end. */
const RAN_IN_PERIOD = `ended_at >= :start AND started_at <= :end AND ${RENTAL_RAN}`;

const uncovered = ({ watermark, since }: RollupTerms) => ({
  /** One row: the rollup's state. */
  state: { select: STATE, from: "DUAL" },
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
    from: "servers WHERE provider_id = :provider",
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
    from: "instances WHERE provider_id = :provider",
  },

  /** To add: the covered charges from the checkpoint, or the cached end, to the end. */
  chargesUpToEnd: sumCharges(
    `charged_at ${since("end")} AND charged_at <= :end AND ${chargeCovered(watermark)}`,
  ),
  /** To add: the covered rentals that started there. */
  startsUpToEnd: countRentals(
    COUNT,
    `started_at ${since("end")} AND started_at <= :end AND ${rentalCovered(watermark)}`,
  ),
  /** To subtract: the covered charges from the checkpoint, or the cached start, to the start. */
  chargesUpToStart: sumCharges(
    `charged_at ${since("start")} AND charged_at < :start AND ${chargeCovered(watermark)}`,
  ),
  /** To subtract: the covered rentals that ended there. */
  endsUpToStart: countRentals(
    COUNT,
    `ended_at ${since("start")} AND ended_at < :start AND ${rentalCovered(watermark)}`,
  ),

  /** The uncovered charges of the period. */
  uncoveredCharges: sumCharges(`recorded_at > ${watermark} AND charged_at BETWEEN :start AND :end`),
  /** The rentals of the period that have an end and were written after the watermark. */
  writtenRentals: countRentals(COUNT, `updated_at > ${watermark} AND ${RAN_IN_PERIOD}`),
  /** The rentals of the period that were written before the watermark, but end after it. */
  endingRentals: countRentals(
    COUNT,
    `ended_at > ${watermark} AND updated_at <= ${watermark} AND ${RAN_IN_PERIOD}`,
  ),
  /** The rentals without an end that ran in the period, and those of them that run now. */
  openRentals: countRentals(
    {
      count: "SUM(CASE WHEN started_at <= :end THEN 1 ELSE 0 END)",
      running: "SUM(CASE WHEN started_at <= :now THEN 1 ELSE 0 END)",
    },
    "ended_at IS NULL",
  ),
  /** The rentals that run now and have an end, whatever the period. */
  runningRentals: countRentals({ running: "COUNT(*)" }, "ended_at > :now AND started_at <= :now"),
});

/** The full query: the totals at the checkpoints and everything to add to them. */
export const fullBreakdown = compileStatement(
  {
    ...uncovered(FROM_TABLES),
    /** One row: the first checkpoints after the edges of the period. */
    checkpoints: {
      select: { afterStart: checkpointAfter("start"), afterEnd: checkpointAfter("end") },
      from: "DUAL",
    },
    /** To add: the charges dated, and the rentals started, before the checkpoint at the end. */
    totalsAtEnd: {
      select: { ...owner, gross: "gross", charges: "charges", count: "started" },
      from: totalsAt(checkpointBefore("end")),
    },
    /** To subtract: the charges dated, and the rentals ended, before the checkpoint at the start. */
    totalsAtStart: {
      select: { ...owner, gross: "gross", charges: "charges", count: "ended" },
      from: totalsAt(checkpointBefore("start")),
    },
  },
  ["provider", "start", "end", "now"],
);

/** The query that completes cached totals, whose edges are `:cachedStart` and `:cachedEnd`. */
export const uncoveredBreakdown = compileStatement(uncovered(FROM_CACHE), [
  "provider",
  "watermark",
  "cachedStart",
  "cachedEnd",
  "start",
  "end",
  "now",
]);
