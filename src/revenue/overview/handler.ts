/** GetOverview: the provider's year to date, last 12 months, servers and latest payouts. */
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  GetOverviewRequest,
  GetOverviewResponse,
  MonthlyEarnings,
  ServerRevenue,
  Summary,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { parseCents } from "../../db/cents.ts";
import type { Context } from "../../handler.ts";
import type { Ask } from "../../rollup/read/ask.ts";
import { NO_SUMS, plus, type Sums } from "../../rollup/sums.ts";
import { type Month, recentMonths } from "../calendar.ts";
import { split } from "../fee.ts";
import { decimal, money } from "../message.ts";
import { newestFirst } from "../pages.ts";
import { payout } from "../payouts/payout.ts";
import { estimateHours, formatHourlyPrice, parseHourlyPrice } from "../price.ts";
import { byRank } from "../ranking.ts";
import { createOverviewReader, type Overview } from "./reader.ts";

/** Creates the RPC's function. It rejects with a `ServiceError`, as `Ask` does. */
export function createGetOverview(ask: Ask) {
  const overviewFor = createOverviewReader();
  return async (_request: GetOverviewRequest, context: Context) => {
    const { providerId } = context.caller;
    const { value: overview, asOf } = await ask(context, (facts) => overviewFor(providerId, facts));
    const months = recentMonths(overview.now);
    const [{ balance, name } = { balance: "", name: "" }] = overview.rows.confirmed;
    const message: GetOverviewResponse = {
      $typeName: "revenue.v1.GetOverviewResponse",
      summary: summary(months, overview, balance),
      monthlyEarnings: months.map((month) => monthlyEarnings(month, sumsOf(month, overview))),
      serverRevenue: serverRevenue(overview),
      recentPayouts: overview.rows.payouts.toSorted(newestFirst).map(payout),
      providerName: name,
    };
    return { message, asOf };
  };
}

function sumsOf(month: Month, { byMonth }: Overview): Sums {
  return byMonth.get(month.start) ?? NO_SUMS;
}

function summary(months: readonly Month[], overview: Overview, balance: string): Summary {
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
    availableBalance: money(parseCents(balance || "0.00")),
  };
}

function monthlyEarnings(month: Month, sums: Sums): MonthlyEarnings {
  return {
    $typeName: "revenue.v1.MonthlyEarnings",
    month: month.label,
    monthAbbreviation: month.abbreviation,
    amount: money(split(sums).earnings),
    startTime: timestampFromMs(month.start),
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
