/** GetOverview: the provider's year to date, last 12 months, servers and latest payouts. */
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  GetOverviewRequest,
  GetOverviewResponse,
  MonthlyEarnings,
  Payout,
  ServerRevenue,
  Summary,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { parseCents } from "../../db/cents.ts";
import { instantOf } from "../../db/datetime.ts";
import type { Read } from "../../db/query.ts";
import type { Answer, Context } from "../../handler.ts";
import type { ReadLedger } from "../../rollup/read/damage.ts";
import type { ReportLag } from "../../rollup/read/lag-log.ts";
import { NO_SUMS, plus, type Sums } from "../../rollup/sums.ts";
import { type Month, recentMonths } from "../calendar.ts";
import { split } from "../fee.ts";
import { decimal, money } from "../message.ts";
import { estimateHours, formatHourlyPrice, parseHourlyPrice } from "../price.ts";
import { byRank } from "../ranking.ts";
import { createOverviewReader, type Overview } from "./reader.ts";

/** Creates the RPC's function. It rejects with a `ServiceError`, as `Read` does. */
export function createGetOverview(
  read: Read,
  reportLag: ReportLag,
  readLedger: ReadLedger,
  observeCache?: (hit: boolean) => void,
) {
  const readOverview = createOverviewReader(read, readLedger, observeCache);
  return async (
    _request: GetOverviewRequest,
    context: Context,
  ): Promise<Answer<GetOverviewResponse>> => {
    const overview = await readOverview(context);
    const months = recentMonths(overview.now);
    reportLag(context.caller.providerId, overview);
    const message: GetOverviewResponse = {
      $typeName: "revenue.v1.GetOverviewResponse",
      summary: summary(months, overview),
      monthlyEarnings: months.map((month) => monthlyEarnings(month, sumsOf(month, overview))),
      serverRevenue: serverRevenue(overview),
      recentPayouts: overview.rows.payouts.toSorted(latestFirst).map(payout),
    };
    return { message, asOf: overview.asOf };
  };
}

function sumsOf(month: Month, { byMonth }: Overview): Sums {
  return byMonth.get(month.start) ?? NO_SUMS;
}

function summary(months: readonly Month[], overview: Overview): Summary {
  const [current] = months as [Month];
  const yearToDate = split(
    months
      .filter((month) => month.year === current.year)
      .map((month) => sumsOf(month, overview))
      .reduce(plus, NO_SUMS),
  );
  return {
    $typeName: "revenue.v1.Summary",
    totalEarningsYtd: money(yearToDate.earnings),
    platformFeesYtd: money(yearToDate.fee),
    grossRevenueYtd: money(yearToDate.gross),
    currentMonthEarnings: money(split(sumsOf(current, overview)).earnings),
    availableBalance: money(parseCents(overview.balance || "0.00")),
  };
}

function monthlyEarnings(month: Month, sums: Sums): MonthlyEarnings {
  return {
    $typeName: "revenue.v1.MonthlyEarnings",
    month: month.label,
    monthAbbreviation: month.abbreviation,
    amount: money(split(sums).earnings),
  };
}

function serverRevenue({ rows, byServer }: Overview): ServerRevenue[] {
  return rows.servers
    .filter((server) => server.deleted === "0" || byServer.has(server.id))
    .map((server) => ({ ...server, ...(byServer.get(server.id) ?? NO_SUMS) }))
    .sort(byRank)
    .map((server) => {
      const { gross, fee, earnings } = split(server);
      const price = parseHourlyPrice(server.price);
      return {
        $typeName: "revenue.v1.ServerRevenue",
        serverId: server.uuid,
        serverName: server.name,
        pricePerHour: decimal(formatHourlyPrice(price)),
        totalEarnings: money(earnings),
        platformFees: money(fee),
        grossRevenue: money(gross),
        totalHours: decimal(estimateHours(gross, price)),
      };
    });
}

/** The order of payouts. SQL promises none for a part of a UNION. */
export function latestFirst(one: PayoutRow, other: PayoutRow): number {
  if (one.paidAt !== other.paidAt) return one.paidAt > other.paidAt ? -1 : 1;
  return BigInt(one.order) > BigInt(other.order) ? -1 : 1;
}

type PayoutRow = Overview["rows"]["payouts"][number];

/** A payout of a response. */
export function payout(row: PayoutRow): Payout {
  return {
    $typeName: "revenue.v1.Payout",
    payoutId: row.id,
    date: timestampFromMs(instantOf(row.paidAt)),
    amount: money(parseCents(row.amount)),
    method: row.method,
    status: row.status,
  };
}
