/** GetServerBreakdown: the revenue and the rentals of a period, per server and instance. */
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  GetServerBreakdownRequest,
  GetServerBreakdownResponse,
  InstanceBreakdown,
  ServerBreakdown,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { formatFixed } from "../../db/cents.ts";
import type { Read } from "../../db/query.ts";
import type { Answer, Context } from "../../handler.ts";
import type { ReadLedger } from "../../rollup/read/damage.ts";
import type { ReportLag } from "../../rollup/read/lag-log.ts";
import { divide } from "../fee.ts";
import { decimal, money } from "../message.ts";
import { completePeriod, parsePeriod } from "../period.ts";
import { byRank } from "../ranking.ts";
import { parseTimeZone } from "../time-zone.ts";
import { type Breakdown, createBreakdownReader } from "./reader.ts";
import { hadActivity, type PeriodTotals, type Totals } from "./totals.ts";

/** The status of servers that count as active. */
const ACTIVE = "Active";
/** The status of soft-deleted servers. It replaces the stored status. */
const DELETED = "Deleted";
/** In ms. */
const HUNDREDTH_OF_HOUR = 36_000n;

/**
 * Creates the RPC's function. It rejects with a `ServiceError`: `invalidArgument` for an invalid
 * period, otherwise as `Read` does.
 */
export function createGetServerBreakdown(
  read: Read,
  reportLag: ReportLag,
  readLedger: ReadLedger,
  observeCache?: (hit: boolean) => void,
) {
  const readBreakdown = createBreakdownReader(read, readLedger, observeCache);
  return async (
    request: GetServerBreakdownRequest,
    context: Context,
  ): Promise<Answer<GetServerBreakdownResponse>> => {
    const timeZone = parseTimeZone(request.timeZone);
    const requested = parsePeriod(request.startDate, request.endDate, timeZone);
    const breakdown = await readBreakdown(requested, context);
    const period = completePeriod(requested, breakdown.now);
    reportLag(context.caller.providerId, breakdown);
    const servers = serverBreakdowns(breakdown);
    const message: GetServerBreakdownResponse = {
      $typeName: "revenue.v1.GetServerBreakdownResponse",
      startDate: timestampFromMs(period.start),
      endDate: timestampFromMs(period.end),
      totalServers: servers.length,
      activeServers: servers.filter((server) => server.status === ACTIVE).length,
      ...figures(breakdown.totals.total()),
      servers,
      timeZone,
    };
    return { message, asOf: breakdown.asOf };
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
  totals: PeriodTotals,
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
function figures({ sums, rentals, running, rented }: Totals) {
  return {
    totalRevenue: money(sums.gross),
    totalRentals: rentals,
    activeRentals: running,
    refunds: money(sums.refunds),
    rentedHours: decimal(formatFixed(divide(rented, HUNDREDTH_OF_HOUR), 2)),
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
      return { row, totals, gross: totals.sums.gross, name: row.name, id: row.id };
    })
    .filter(({ row, totals }) => row.deleted === "0" || hadActivity(totals))
    .sort(byRank);
}
