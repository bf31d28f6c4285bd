/** GetServerBreakdown: the revenue and the rentals of a period, per server and instance. */
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  GetServerBreakdownRequest,
  GetServerBreakdownResponse,
  InstanceBreakdown,
  ServerBreakdown,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import type { Answer, Context } from "../../handler.ts";
import type { Ask } from "../../rollup/read/ask.ts";
import { split } from "../fee.ts";
import { hours, money } from "../message.ts";
import { completePeriod, parsePeriod } from "../period.ts";
import { byRank } from "../ranking.ts";
import { parseTimeZone } from "../time-zone.ts";
import { type Breakdown, createBreakdownReader } from "./reader.ts";
import type { Totals, TotalsByOwner } from "./totals.ts";

/** The status of servers that count as active. */
const ACTIVE = "Active";
/** The status of soft-deleted servers. It replaces the stored status. */
const DELETED = "Deleted";

/**
 * Creates the RPC's function. It rejects with a `ServiceError`: `invalidArgument` for an invalid
 * period, otherwise as `Ask` does.
 */
export function createGetServerBreakdown(ask: Ask, observeCache?: (hit: boolean) => void) {
  const breakdownFor = createBreakdownReader(observeCache);
  return async (
    request: GetServerBreakdownRequest,
    context: Context,
  ): Promise<Answer<GetServerBreakdownResponse>> => {
    const { providerId } = context.caller;
    const timeZone = parseTimeZone(request.timeZone);
    const requested = parsePeriod(request.startDate, request.endDate, timeZone);
    const { value: breakdown, asOf } = await ask(context, (facts) =>
      breakdownFor(providerId, completePeriod(requested, facts.now), facts),
    );
    const servers = serverBreakdowns(breakdown);
    const message: GetServerBreakdownResponse = {
      $typeName: "revenue.v1.GetServerBreakdownResponse",
      startDate: timestampFromMs(breakdown.period.start),
      endDate: timestampFromMs(breakdown.period.end),
      totalServers: servers.length,
      activeServers: servers.filter((server) => server.status === ACTIVE).length,
      ...figures(breakdown.totals.total()),
      servers,
      timeZone,
    };
    return { message, asOf };
  };
}

function serverBreakdowns({ rows, totals }: Breakdown): ServerBreakdown[] {
  const instances = Map.groupBy(rows.instances, (instance) => instance.server);
  const ranked = rank(rows.servers, (server) => totals.server(server.id));
  return ranked.map(({ row: server, totals: ofServer }) => ({
    $typeName: "revenue.v1.ServerBreakdown",
    serverId: server.uuid,
    serverName: server.name,
    serverType: server.type,
    status: server.deleted === "0" ? server.status : DELETED,
    ...figures(ofServer),
    instances: instanceBreakdowns(instances.get(server.id) ?? [], totals),
  }));
}

function instanceBreakdowns(
  instances: Breakdown["rows"]["instances"],
  totals: TotalsByOwner,
): InstanceBreakdown[] {
  const ranked = rank(instances, (instance) => totals.instance(instance.server, instance.id));
  return ranked.map(({ row: instance, totals: ofInstance }) => ({
    $typeName: "revenue.v1.InstanceBreakdown",
    instanceId: instance.publicId,
    instanceName: instance.name,
    ...figures(ofInstance),
  }));
}

/** The figures that a response has for the provider, each server and each instance. */
function figures(totals: Totals) {
  const { gross, fee, earnings } = split(totals);
  return {
    totalRevenue: money(gross),
    totalRentals: totals.rentals,
    activeRentals: totals.running,
    refunds: money(totals.refunds),
    rentedHours: hours(totals.rented),
    platformFees: money(fee),
    earnings: money(earnings),
  };
}

/** The rows to show, in the order of the response, with their totals. */
function rank<Row extends { readonly id: string; readonly name: string; readonly deleted: string }>(
  rows: readonly Row[],
  totalsOf: (row: Row) => Totals,
) {
  return rows
    .map((row) => {
      const totals = totalsOf(row);
      return { row, totals, gross: totals.gross, name: row.name, id: row.id };
    })
    .filter(({ row, totals }) => row.deleted === "0" || totals.hadActivity)
    .sort(byRank);
}
