/** What GetServerBreakdown asks of the database, in one statement. */
import { compileSnapshot } from "../database/snapshot.ts";

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
    /** Gross of the period per server and instance. */
    charges: {
      select: { server: "server_id", instance: "instance_id", gross: "SUM(gross)" },
      from: `charges
             WHERE provider_id = :provider AND charged_at BETWEEN :start AND :end
             GROUP BY server_id, instance_id`,
    },
    /** How many rentals had ended when they ran in the period, per server and instance. */
    endedRentals: {
      select: { server: "server_id", instance: "instance_id", count: "COUNT(*)" },
      from: `rentals
             WHERE provider_id = :provider AND ended_at >= :start AND started_at <= :end
             GROUP BY server_id, instance_id`,
    },
    /** The same of the rentals without an end. */
    openRentals: {
      select: { server: "server_id", instance: "instance_id", count: "COUNT(*)" },
      from: `rentals
             WHERE provider_id = :provider AND ended_at IS NULL AND started_at <= :end
             GROUP BY server_id, instance_id`,
    },
    /** How many rentals run now, whatever the period. */
    runningRentals: {
      select: { server: "server_id", instance: "instance_id", count: "COUNT(*)" },
      from: `rentals
             WHERE provider_id = :provider AND (ended_at IS NULL OR ended_at > :now)
               AND started_at <= :now
             GROUP BY server_id, instance_id`,
    },
  },
  ["provider", "start", "end", "now"],
);
