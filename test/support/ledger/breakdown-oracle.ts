/** What a breakdown must say of a ledger, by design.md's "What the numbers mean". */
import { sum, usd } from "./arithmetic.ts";
import type { Charge, Ledger, Rental, Server } from "./ledger.ts";
import { inOrder } from "./rank.ts";
import { timestamp } from "./timestamp.ts";

/** Both ends inclusive, ISO 8601. */
export interface ExpectedPeriod {
  readonly start: string;
  readonly end: string;
}

/** Charges and rentals that belong together, before they are counted. */
interface Activity {
  readonly charges: readonly Charge[];
  readonly rentals: readonly Rental[];
  readonly running: readonly Rental[];
}

/** The breakdown of a period at `now` (ISO 8601), as protobuf's own JSON writes it. */
export function expectedBreakdown(ledger: Ledger, { start, end }: ExpectedPeriod, now: string) {
  const activity: Activity = {
    charges: ledger.charges.filter(({ at }) => start <= at && at <= end),
    rentals: ledger.rentals.filter(
      ({ startedAt, endedAt }) => startedAt <= end && (endedAt === null || endedAt >= start),
    ),
    running: ledger.rentals.filter(
      ({ startedAt, endedAt }) => startedAt <= now && (endedAt === null || endedAt > now),
    ),
  };
  const servers = shown(ledger.servers, ({ id }) => ofServer(activity, id)).map((server) => ({
    serverId: server.uuid,
    serverName: server.name,
    serverType: server.type,
    status: server.deletedAt === null ? server.status : "Deleted",
    ...figures(server.activity),
    instances: instances(ledger, server, server.activity),
  }));
  return {
    startDate: timestamp(start),
    endDate: timestamp(end),
    totalServers: servers.length,
    activeServers: ledger.servers.filter(
      (server) => server.deletedAt === null && server.status === "Active",
    ).length,
    ...figures(activity),
    servers,
  };
}

function instances(ledger: Ledger, server: Server, activity: Activity) {
  const own = ledger.instances.filter((instance) => instance.server === server.id);
  return shown(own, ({ id }) => ofInstance(activity, id)).map((instance) => ({
    instanceId: instance.publicId,
    instanceName: instance.name,
    ...figures(instance.activity),
  }));
}

/** Those that are not deleted or were active in the period, in the order of the answer. */
function shown<
  Thing extends { readonly id: bigint; readonly name: string; readonly deletedAt: string | null },
>(things: readonly Thing[], activityOf: (thing: Thing) => Activity) {
  return inOrder(
    things
      .map((thing) => {
        const activity = activityOf(thing);
        return { ...thing, activity, gross: grossOf(activity) };
      })
      .filter(
        ({ deletedAt, activity }) =>
          deletedAt === null || activity.charges.length > 0 || activity.rentals.length > 0,
      ),
  );
}

function figures(activity: Activity) {
  return {
    totalRevenue: usd(grossOf(activity)),
    totalRentals: activity.rentals.length,
    activeRentals: activity.running.length,
  };
}

function grossOf(activity: Activity): bigint {
  return sum(activity.charges.map((charge) => charge.gross));
}

function ofServer({ charges, rentals, running }: Activity, id: bigint): Activity {
  const its = ({ server }: { readonly server: bigint }) => server === id;
  return {
    charges: charges.filter(its),
    rentals: rentals.filter(its),
    running: running.filter(its),
  };
}

function ofInstance({ charges, rentals, running }: Activity, id: bigint): Activity {
  const its = ({ instance }: { readonly instance: bigint | null }) => instance === id;
  return {
    charges: charges.filter(its),
    rentals: rentals.filter(its),
    running: running.filter(its),
  };
}
