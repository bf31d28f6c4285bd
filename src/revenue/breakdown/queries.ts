/**
 * The SQL of GetServerBreakdown, as one statement each: the full query, and the query that
 * completes cached totals. A result adds up four regions:
 *
 * - the totals of the rollup at the last checkpoint before each edge of the period, or the cached
 *   totals of an earlier period;
 * - the covered rows between there and the edges;
 * - the rows that the rollup does not cover;
 * - the rentals without an end, which no rollup covers.
 *
 * Cached totals include the covered charges of the earlier period's edges, but no rentals of edges:
 * these are few and are read again.
 */
import { compileStatement } from "../../db/statement.ts";
import { chargeCovered, RENTAL_RAN, rentalHeld, rentalUnchanged } from "../../rollup/coverage.ts";
import {
  checkpointAfter,
  checkpointBefore,
  FROM_CACHE,
  FROM_TABLES,
  IS_CACHED,
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

const uncovered = ({ watermark, generation, chargesSince, checkpoint, guard }: RollupTerms) => ({
  /** The rollup's state. */
  state: STATE,
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
    `charged_at ${chargesSince("end")} AND charged_at <= :end AND ${chargeCovered(watermark)}`,
  ),
  /** To add: the covered rentals that started from the checkpoint to the end. */
  startsUpToEnd: countRentals(
    COUNT,
    `started_at >= ${checkpoint("end")} AND started_at <= :end AND ${rentalUnchanged(watermark)}`,
  ),
  /** To subtract: the covered charges from the checkpoint, or the cached start, to the start. */
  chargesUpToStart: sumCharges(
    `charged_at ${chargesSince("start")} AND charged_at < :start AND ${chargeCovered(watermark)}`,
  ),
  /** To subtract: the covered rentals that ended from the checkpoint to the start. */
  endsUpToStart: countRentals(
    COUNT,
    `ended_at >= ${checkpoint("start")} AND ended_at < :start AND ${rentalUnchanged(watermark)}`,
  ),

  /** The uncovered charges of the period. */
  uncoveredCharges: sumCharges(
    `recorded_at > ${watermark} AND charged_at BETWEEN :start AND :end${guard}`,
  ),
  /**
   * The rentals of the period that have an end and were written after the watermark, without those
   * that the totals at the checkpoints count already: they are listed, started before the second
   * checkpoint and did not end before the first one.
   */
  writtenRentals: countRentals(
    {
      count: `SUM(CASE WHEN ${RAN_IN_PERIOD} THEN 1 ELSE 0 END
        - CASE WHEN started_at < ${checkpoint("end")} AND ended_at >= ${checkpoint("start")}
               AND ${rentalHeld(generation)} THEN 1 ELSE 0 END)`,
    },
    // Without a rollup there is no list, and what ended before the period is not read.
    `updated_at > ${watermark} AND ${RENTAL_RAN} AND started_at <= :end
       AND ended_at >= CASE WHEN ${generation} > 0 THEN ${checkpoint("start")} ELSE :start END${guard}`,
  ),
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
    /** One row: the checkpoints around the edges of the period. */
    checkpoints: {
      select: {
        beforeStart: checkpointBefore("start"),
        beforeEnd: checkpointBefore("end"),
        afterStart: checkpointAfter("start"),
        afterEnd: checkpointAfter("end"),
      },
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
  "breakdown",
);

/** The query that tells the state of the rollup alone. */
export const rollupState = compileStatement({ state: STATE }, ["provider"], "rollup_state");

/**
 * The number and the gross of the charges that cached totals include of an edge: "3 12.50". Not
 * read if the totals are outdated, or if `:verify` is not "1".
 */
const cachedEdge = (condition: string) => `CASE WHEN :verify = '1' AND ${IS_CACHED} THEN (
  SELECT CONCAT(COUNT(*), ' ', COALESCE(SUM(gross), 0.00)) FROM charges
  WHERE provider_id = :provider AND ${condition} AND ${chargeCovered(FROM_CACHE.watermark)}) END`;

/** The query that completes cached totals, whose edges are `:cachedStart` and `:cachedEnd`. */
export const uncoveredBreakdown = compileStatement(
  {
    ...uncovered(FROM_CACHE),
    /** The rollup's state; the covered charges from the checkpoints to the cached edges. */
    state: {
      select: {
        ...STATE.select,
        edgeAtStart: cachedEdge("charged_at >= :checkpointStart AND charged_at < :cachedStart"),
        edgeAtEnd: cachedEdge("charged_at >= :checkpointEnd AND charged_at <= :cachedEnd"),
      },
      from: STATE.from,
    },
  },
  [
    "provider",
    "rollup",
    "verify",
    "watermark",
    "checkpointStart",
    "checkpointEnd",
    "cachedStart",
    "cachedEnd",
    "start",
    "end",
    "now",
  ],
  "breakdown_uncovered",
);
