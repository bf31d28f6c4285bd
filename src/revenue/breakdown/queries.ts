/**
 * The SQL of GetServerBreakdown, as one statement each: the full query, and the query that
 * completes cached totals. A result is made of four regions:
 *
 * - the totals of the rollup at the first checkpoint after the period, less those at the last one
 *   before it; or the cached totals of an earlier period;
 * - the covered rows between there and the edges of the period;
 * - the rows that the rollup does not cover;
 * - the rentals without an end, which no rollup covers.
 *
 * Cached totals are without the covered charges outside the earlier period, but not without the
 * rentals outside it: these are few and are read again.
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
const RAN_IN_PERIOD = `ended_at >= :start AND started_at <= :end AND ${RENTAL_RAN}`;

const uncovered = ({ watermark, generation, charges, first, last, guard }: RollupTerms) => ({
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

  /** To subtract: the covered charges from the checkpoint, or the cached start, to the start. */
  chargesAtStart: sumCharges(`${charges.start} AND ${chargeCovered(watermark)}`),
  /** To subtract: the covered rentals that ended from the checkpoint to the start. */
  endsBeforeStart: countRentals(
    COUNT,
    `ended_at >= ${first} AND ended_at < :start AND ${rentalUnchanged(watermark)}`,
  ),
  /**
   * The covered charges at the end. To subtract: those from the end to the checkpoint. With cached
   * totals, to add: those from the cached end to the end.
   */
  chargesAtEnd: sumCharges(`${charges.end} AND ${chargeCovered(watermark)}`),
  /** To subtract: the covered rentals that started from the end to the checkpoint. */
  startsAfterEnd: countRentals(
    COUNT,
    `started_at > :end AND started_at <= ${last} AND ${rentalUnchanged(watermark)}`,
  ),

  /** The uncovered charges of the period. */
  uncoveredCharges: sumCharges(
    `recorded_at > ${watermark} AND charged_at BETWEEN :start AND :end${guard}`,
  ),
  /**
   * The rentals of the period that have an end and were written after the watermark, without those
   * that the totals between the checkpoints count already: they are listed, and ran between these.
   */
  writtenRentals: countRentals(
    {
      count: `SUM(CASE WHEN ${RAN_IN_PERIOD} THEN 1 ELSE 0 END
        - CASE WHEN ${generation} > 0 AND ${rentalHeld(generation)} THEN 1 ELSE 0 END)`,
    },
    // Without a rollup there is no list, and what ran outside the period is not read.
    `updated_at > ${watermark} AND ${RENTAL_RAN}
       AND started_at <= CASE WHEN ${generation} > 0 THEN ${last} ELSE :end END
       AND ended_at >= CASE WHEN ${generation} > 0 THEN ${first} ELSE :start END${guard}`,
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
});

/** The full query: the totals at the checkpoints and everything to add to them. */
export const fullBreakdown = compileStatement(
  {
    ...uncovered(FROM_TABLES),
    /** One row: the checkpoints around the edges of the period. */
    checkpoints: {
      select: {
        beforeStart: checkpointBefore("start"),
        afterStart: checkpointAfter("start"),
        afterEnd: checkpointAfter("end"),
      },
      from: "DUAL",
    },
    /** To add: the charges dated, and the rentals started, before the checkpoint after the end. */
    totalsAfterEnd: {
      select: { ...owner, gross: "gross", charges: "charges", count: "started" },
      from: totalsAt(checkpointAfter("end")),
    },
    /** To subtract: the charges dated, and the rentals ended, before that before the start. */
    totalsBeforeStart: {
      select: { ...owner, gross: "gross", charges: "charges", count: "ended" },
      from: totalsAt(checkpointBefore("start")),
    },
  },
  ["provider", "start", "end", "now"],
  "breakdown",
);

/**
 * The number and the gross of the charges that were taken off cached totals at an edge: "3 12.50".
 * Not read if the totals are outdated, or if `:verify` is not "1".
 */
const cachedEdge = (condition: string) => `CASE WHEN :verify = '1' AND ${IS_CACHED} THEN (
  SELECT CONCAT(COUNT(*), ' ', COALESCE(SUM(gross), 0.00)) FROM charges
  WHERE provider_id = :provider AND ${condition} AND ${chargeCovered(FROM_CACHE.watermark)}) END`;

/** The query that completes cached totals, whose edges are `:cachedStart` and `:cachedEnd`. */
export const uncoveredBreakdown = compileStatement(
  {
    ...uncovered(FROM_CACHE),
    /** The rollup's state; the covered charges between the checkpoints and the cached edges. */
    state: {
      select: {
        ...STATE.select,
        edgeAtStart: cachedEdge("charged_at >= :first AND charged_at < :cachedStart"),
        edgeAtEnd: cachedEdge("charged_at > :cachedEnd AND charged_at <= :last"),
      },
      from: STATE.from,
    },
  },
  [
    "provider",
    "rollup",
    "verify",
    "watermark",
    "first",
    "last",
    "cachedStart",
    "cachedEnd",
    "start",
    "end",
    "now",
  ],
  "breakdown_uncovered",
);
