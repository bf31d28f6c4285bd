/** GetServerBreakdown: the revenue and the rentals of a period, per server and instance. */
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  GetServerBreakdownRequest,
  GetServerBreakdownResponse,
  InstanceBreakdown,
  ServerBreakdown,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import type { Context } from "../../handler.ts";
import type { Ask } from "../../rollup/read/ask.ts";
import { createSumsCache } from "../../rollup/read/cache.ts";
import { split } from "../fee.ts";
import { hours, money } from "../message.ts";
import { completePeriod, parsePeriod } from "../period.ts";
import { periodQuestion } from "../period-question.ts";
import { byRank } from "../ranking.ts";
import { parseTimeZone } from "../time-zone.ts";
import { breakdownStatements } from "./queries.ts";
import type { StoredSums, Totals, TotalsByOwner } from "./totals.ts";

/** The status of servers that count as active. */
const ACTIVE = "Active";
/** The status of soft-deleted servers. It replaces the stored status. */
const DELETED = "Deleted";

/**
 * The maximum size of the cache, in rows of about 400 bytes, one for each owner: 100 MB. Ten thousand small
 * providers fit in.
 */
const MAX_CACHED_ROWS = 250_000;

/**
 * Creates the RPC's function. It caches the sums of owners at the boundaries of periods, by the version of the rollup.
 * It rejects with a `ServiceError`: `invalidArgument` for an invalid period, otherwise as `Ask` does.
 */
export function createGetServerBreakdown(ask: Ask) {
  const cache = createSumsCache<StoredSums>(
    ({ atFirst, atLast }) => atFirst.length + atLast.length,
    MAX_CACHED_ROWS,
  );
  return async (request: GetServerBreakdownRequest, context: Context) => {
    const timeZone = parseTimeZone(request.timeZone);
    const requested = parsePeriod(request.startDate, request.endDate, timeZone);
    const { value: breakdown, asOf } = await ask(context, (facts) => {
      const period = completePeriod(requested, facts.now);
      const asked = { provider: context.caller.providerId, period, facts, cache };
      return periodQuestion(asked, breakdownStatements, (rows, totals) => ({
        rows,
        totals,
        period,
      }));
    });
    const { period, rows, totals } = breakdown;
    const servers = serverBreakdowns(rows, totals);
    const message: GetServerBreakdownResponse = {
      $typeName: "revenue.v1.GetServerBreakdownResponse",
      startDate: timestampFromMs(period.start),
      endDate: timestampFromMs(period.end),
      totalServers: servers.length,
      activeServers: servers.filter((server) => server.status === ACTIVE).length,
      ...figures(totals.total()),
      servers,
      timeZone,
    };
    return { message, asOf };
  };
}

type Rows = Awaited<ReturnType<typeof breakdownStatements.full.run>>["rows"];

function serverBreakdowns(rows: Rows, totals: TotalsByOwner): ServerBreakdown[] {
  const instances = Map.groupBy(rows.instances, (instance) => instance.server);
  return rank(rows.servers, (server) => totals.server(server.id)).map((server) => ({
    $typeName: "revenue.v1.ServerBreakdown",
    serverId: server.uuid,
    serverName: server.name,
    serverType: server.type,
    status: server.deleted === "0" ? server.status : DELETED,
    ...figures(server.totals),
    instances: instanceBreakdowns(instances.get(server.id) ?? [], totals),
  }));
}

function instanceBreakdowns(
  instances: Rows["instances"],
  totals: TotalsByOwner,
): InstanceBreakdown[] {
  return rank(instances, ({ server, id }) => totals.instance(server, id)).map((instance) => ({
    $typeName: "revenue.v1.InstanceBreakdown",
    instanceId: instance.publicId,
    instanceName: instance.name,
    ...figures(instance.totals),
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
      return { ...row, totals, gross: totals.gross };
    })
    .filter(({ deleted, totals }) => deleted === "0" || totals.hadActivity)
    .sort(byRank);
}
