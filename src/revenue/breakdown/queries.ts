/**
 * What GetServerBreakdown asks of the database, each time in one statement: the whole, or
 * what is left to ask where the rollup's part is remembered.
 */
import { compileStatement } from "../../db/statement.ts";
import {
  AS_CACHED,
  AS_FOUND,
  checkpointAfter,
  checkpointBefore,
  figuresAt,
  type RollupTerms,
  STATE,
} from "../../rollup/read/sql.ts";

const perInstance = { server: "server_id", instance: "instance_id" };
const sums = { ...perInstance, gross: "SUM(gross)", charges: "COUNT(*)" };
const counts = { ...perInstance, count: "COUNT(*)" };

/** A rental that ended before it started never ran. */
const RAN = "ended_at >= started_at";

/** What no rollup holds. */
const uncovered = ({ watermark, since }: RollupTerms) => ({
  /** The rollup's state: always one row. */
  state: { select: STATE, from: "DUAL" },
  /** Every server, deleted or not. */
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
  /** Every instance, deleted or not. */
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

  /** What was charged from a checkpoint, or from an earlier period's end, to the end. */
  upToEnd: {
    select: sums,
    from: `charges
           WHERE provider_id = :provider AND charged_at ${since("end")}
             AND charged_at <= :end AND recorded_at <= ${watermark}
           GROUP BY server_id, instance_id`,
  },
  /** How many rentals, ended by now, started from there to the end. */
  startsUpToEnd: {
    select: counts,
    from: `rentals
           WHERE provider_id = :provider AND started_at ${since("end")}
             AND started_at <= :end AND ${RAN} AND updated_at <= ${watermark} AND ended_at <= ${watermark}
           GROUP BY server_id, instance_id`,
  },
  /** To be taken off: what was charged from a checkpoint, or an earlier start, to the start. */
  upToStart: {
    select: sums,
    from: `charges
           WHERE provider_id = :provider AND charged_at ${since("start")}
             AND charged_at < :start AND recorded_at <= ${watermark}
           GROUP BY server_id, instance_id`,
  },
  /** To be taken off: how many rentals ended from there to the start. */
  endsUpToStart: {
    select: counts,
    from: `rentals
           WHERE provider_id = :provider AND ended_at ${since("start")}
             AND ended_at < :start AND ${RAN} AND updated_at <= ${watermark} AND ended_at <= ${watermark}
           GROUP BY server_id, instance_id`,
  },

  /** What was charged in the period, but recorded after the watermark. */
  recentCharges: {
    select: sums,
    from: `charges
           WHERE provider_id = :provider AND recorded_at > ${watermark}
             AND charged_at BETWEEN :start AND :end
           GROUP BY server_id, instance_id`,
  },
  /** How many rentals ran in the period whose end was written after the watermark. */
  recentRentals: {
    select: counts,
    from: `rentals
           WHERE provider_id = :provider AND updated_at > ${watermark}
             AND ended_at >= :start AND started_at <= :end AND ${RAN}
           GROUP BY server_id, instance_id`,
  },
  /** How many rentals ran in the period whose end was written before the watermark, but lies after it. */
  dueRentals: {
    select: counts,
    from: `rentals
           WHERE provider_id = :provider AND ended_at > ${watermark} AND updated_at <= ${watermark}
             AND ended_at >= :start AND started_at <= :end AND ${RAN}
           GROUP BY server_id, instance_id`,
  },
  /** How many rentals without an end ran in the period, and how many of these run now. */
  openRentals: {
    select: {
      ...perInstance,
      count: "SUM(CASE WHEN started_at <= :end THEN 1 ELSE 0 END)",
      running: "SUM(CASE WHEN started_at <= :now THEN 1 ELSE 0 END)",
    },
    from: `rentals
           WHERE provider_id = :provider AND ended_at IS NULL
           GROUP BY server_id, instance_id`,
  },
  /** How many rentals run now although their end is known. */
  endingRentals: {
    select: { ...perInstance, running: "COUNT(*)" },
    from: `rentals
           WHERE provider_id = :provider AND ended_at > :now AND started_at <= :now
           GROUP BY server_id, instance_id`,
  },
});

/** All of it. */
export const fullBreakdown = compileStatement(
  {
    ...uncovered(AS_FOUND),
    /** The checkpoints after the period's edges: always one row. */
    checkpoints: {
      select: { afterStart: checkpointAfter("start"), afterEnd: checkpointAfter("end") },
      from: "DUAL",
    },
    /** What was charged, and how many ended rentals had started, before the checkpoint near the end. */
    untilEnd: {
      select: { ...perInstance, gross: "gross", charges: "charges", count: "started" },
      from: figuresAt(checkpointBefore("end")),
    },
    /** To be taken off: what was charged, and how many rentals had ended, before the one near the start. */
    untilStart: {
      select: { ...perInstance, gross: "gross", charges: "charges", count: "ended" },
      from: figuresAt(checkpointBefore("start")),
    },
  },
  ["provider", "start", "end", "now"],
);

/** What is left where the rollup's part is remembered. */
export const uncoveredBreakdown = compileStatement(uncovered(AS_CACHED), [
  "provider",
  "watermark",
  "knownStart",
  "knownEnd",
  "start",
  "end",
  "now",
]);
