/** The expected breakdown of a ledger: its rows filtered and summed, as the comments of the proto file define. */
import { hundredthsOfHours, refundsOf, sum, tenPercent, timestamp, usd } from "./json-figures.ts";
import type { Charge, Ledger, Rental, Server } from "./ledger.ts";
import { ranked } from "./rank.ts";

/** Both ends inclusive, ISO 8601. */
export interface ExpectedPeriod {
  readonly start: string;
  readonly end: string;
}

/** The charges and rentals of one owner, not yet counted. */
interface Activity {
  readonly charges: readonly Charge[];
  readonly rentals: readonly Rental[];
  readonly running: readonly Rental[];
  /** The period, up to now, in epoch ms: the end is the first instant after it. */
  readonly from: number;
  readonly until: number;
}

/** The breakdown of a period at `now` (ISO 8601), as protobuf JSON. */
export function expectedBreakdown(
  ledger: Ledger,
  { start, end }: ExpectedPeriod,
  now: string,
  timeZone = "UTC",
) {
  // Nothing that is dated after now counts.
  const last = end < now ? end : now;
  const activity: Activity = {
    charges: ledger.charges.filter(({ at }) => start <= at && at <= last),
    rentals: ledger.rentals.filter(
      ({ startedAt, endedAt }) => startedAt <= last && (endedAt === null || endedAt >= start),
    ),
    running: ledger.rentals.filter(
      ({ startedAt, endedAt }) => startedAt <= now && (endedAt === null || endedAt > now),
    ),
    from: Date.parse(start),
    until: Math.min(Date.parse(end) + 1, Date.parse(now)),
  };
  const servers = shown(ledger.servers, ({ id }) =>
    only(activity, ({ server }) => server === id),
  ).map((server) => ({
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
    timeZone,
  };
}

function instances(ledger: Ledger, server: Server, activity: Activity) {
  const own = ledger.instances.filter((instance) => instance.server === server.id);
  return shown(own, ({ id }) => only(activity, ({ instance }) => instance === id)).map(
    (instance) => ({
      instanceId: instance.publicId,
      instanceName: instance.name,
      ...figures(instance.activity),
    }),
  );
}

/** Those that are not deleted or had activity in the period, in the order of the response. */
function shown<
  Item extends { readonly id: bigint; readonly name: string; readonly deletedAt: string | null },
>(items: readonly Item[], activityOf: (item: Item) => Activity) {
  return ranked(
    items
      .map((item) => {
        const activity = activityOf(item);
        return { ...item, activity, gross: grossOf(activity) };
      })
      .filter(
        ({ deletedAt, activity }) =>
          deletedAt === null || activity.charges.length > 0 || activity.rentals.length > 0,
      ),
  );
}

function figures(activity: Activity) {
  const gross = grossOf(activity);
  return {
    totalRevenue: usd(gross),
    totalRentals: activity.rentals.length,
    activeRentals: activity.running.length,
    refunds: usd(refundsOf(activity.charges)),
    rentedHours: usd(hundredthsOfHours(rentedMs(activity))),
    platformFees: usd(tenPercent(gross)),
    earnings: usd(gross - tenPercent(gross)),
  };
}

/** How long the rentals ran in the period, each by itself. */
function rentedMs({ rentals, from, until }: Activity): bigint {
  const each = rentals.map(({ startedAt, endedAt }) => {
    const end = endedAt === null ? until : Math.min(Date.parse(endedAt), until);
    return BigInt(Math.max(0, end - Math.max(Date.parse(startedAt), from)));
  });
  return sum(each);
}

function grossOf(activity: Activity): bigint {
  return sum(activity.charges.map((charge) => charge.gross));
}

/** The activity of one owner. */
function only(
  { charges, rentals, running, ...period }: Activity,
  belongs: (row: Rental | Charge) => boolean,
): Activity {
  return {
    charges: charges.filter(belongs),
    rentals: rentals.filter(belongs),
    running: running.filter(belongs),
    ...period,
  };
}
