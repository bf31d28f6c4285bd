/** What GetServerBreakdown asks of the database, in one statement. */
import { compileSnapshot } from "../database/snapshot.ts";
import { CUT, checkpointAt, figuresAt } from "./rolled-up.ts";

const perInstance = { server: "server_id", instance: "instance_id" };
const sums = { ...perInstance, gross: "SUM(gross)", charges: "COUNT(*)" };
const counts = { ...perInstance, count: "COUNT(*)" };

/** A rental that ended before it started never ran. */
const RAN = "ended_at >= started_at";

export const breakdownQuestions = compileSnapshot(
  {
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

    /** What was charged, and how many ended rentals had started, before a checkpoint near the end. */
    untilEnd: {
      select: { ...perInstance, gross: "gross", charges: "charges", count: "started" },
      from: figuresAt(checkpointAt(":end")),
    },
    /** What was charged from there to the end. */
    upToEnd: {
      select: sums,
      from: `charges
             WHERE provider_id = :provider AND charged_at >= ${checkpointAt(":end")}
               AND charged_at <= :end AND recorded_at <= ${CUT}
             GROUP BY server_id, instance_id`,
    },
    /** How many rentals, ended by now, started from there to the end. */
    startsUpToEnd: {
      select: counts,
      from: `rentals
             WHERE provider_id = :provider AND started_at >= ${checkpointAt(":end")}
               AND started_at <= :end AND ${RAN} AND updated_at <= ${CUT}
             GROUP BY server_id, instance_id`,
    },

    /** To be taken off: what was charged, and how many rentals had ended, before one near the start. */
    untilStart: {
      select: { ...perInstance, gross: "gross", charges: "charges", count: "ended" },
      from: figuresAt(checkpointAt(":start")),
    },
    /** To be taken off: what was charged from there to the start. */
    upToStart: {
      select: sums,
      from: `charges
             WHERE provider_id = :provider AND charged_at >= ${checkpointAt(":start")}
               AND charged_at < :start AND recorded_at <= ${CUT}
             GROUP BY server_id, instance_id`,
    },
    /** To be taken off: how many rentals ended from there to the start. */
    endsUpToStart: {
      select: counts,
      from: `rentals
             WHERE provider_id = :provider AND ended_at >= ${checkpointAt(":start")}
               AND ended_at < :start AND ${RAN} AND updated_at <= ${CUT}
             GROUP BY server_id, instance_id`,
    },

    /** What was charged in the period, but recorded after the cut. */
    recentCharges: {
      select: sums,
      from: `charges
             WHERE provider_id = :provider AND recorded_at > ${CUT}
               AND charged_at BETWEEN :start AND :end
             GROUP BY server_id, instance_id`,
    },
    /** How many rentals ran in the period whose end was written after the cut. */
    recentRentals: {
      select: counts,
      from: `rentals
             WHERE provider_id = :provider AND updated_at > ${CUT}
               AND ended_at >= :start AND started_at <= :end AND ${RAN}
             GROUP BY server_id, instance_id`,
    },
    /** How many rentals without an end ran in the period. */
    openRentals: {
      select: counts,
      from: `rentals
             WHERE provider_id = :provider AND ended_at IS NULL AND started_at <= :end
             GROUP BY server_id, instance_id`,
    },

    /** How many rentals run now, whatever the period. */
    runningRentals: {
      select: counts,
      from: `rentals
             WHERE provider_id = :provider AND (ended_at IS NULL OR ended_at > :now)
               AND started_at <= :now
             GROUP BY server_id, instance_id`,
    },
  },
  ["provider", "start", "end", "now"],
);
