/** GetOverview: the provider's figures at a glance. */
import { create } from "@bufbuild/protobuf";
import {
  type GetOverviewRequest,
  type GetOverviewResponse,
  GetOverviewResponseSchema,
  type MonthlyEarnings,
  MonthlyEarningsSchema,
  type Payout,
  PayoutSchema,
  type ServerRevenue,
  ServerRevenueSchema,
  type Summary,
  SummarySchema,
} from "../../gen/revenue/v1/revenue_pb.ts";
import { type Cents, parseCents } from "../database/cents.ts";
import { fromDatetime, toDatetime } from "../database/datetime.ts";
import type { Read } from "../database/read.ts";
import { type Month, recentMonths } from "./calendar.ts";
import type { Context } from "./context.ts";
import { split } from "./fee.ts";
import { decimal, money, timestamp } from "./message.ts";
import { byRank } from "./order.ts";
import { overviewQuestions } from "./overview-questions.ts";
import { estimateHours, formatHourlyPrice, parseHourlyPrice } from "./price.ts";

/** How many calendar months an overview shows: enough to cover the year to date. */
const MONTHS = 12;

type Answers = Awaited<ReturnType<typeof overviewQuestions.ask>>;

/** Answers GetOverview. Rejects with a `Failure`, as `Read` does. */
export async function getOverview(
  read: Read,
  _request: GetOverviewRequest,
  { caller, now, limits }: Context,
): Promise<GetOverviewResponse> {
  const months = recentMonths(now, MONTHS);
  const [current, oldest] = [months[0] as Month, months.at(-1) as Month];
  const answers = await overviewQuestions.ask(
    read,
    {
      provider: caller.providerId,
      firstMonth: toDatetime(oldest.start),
      nextMonth: toDatetime(current.end),
      now: toDatetime(now),
    },
    limits,
  );
  const gross = grossByMonth(answers, current);
  return create(GetOverviewResponseSchema, {
    summary: summary(months, gross, answers.wallet),
    monthlyEarnings: months.map((month) => monthlyEarnings(month, gross.get(month.key) ?? 0n)),
    serverRevenue: serverRevenue(answers),
    recentPayouts: answers.payouts.map(payout),
  });
}

/** Gross per month, by `Month.key`; of the current one, until now. */
function grossByMonth({ months, recent, upcoming }: Answers, current: Month): Map<string, Cents> {
  const gross = new Map<string, Cents>();
  for (const row of months) increase(gross, row.month, parseCents(row.gross));
  for (const row of recent) increase(gross, row.month, parseCents(row.due));
  for (const row of upcoming) increase(gross, current.key, -parseCents(row.gross));
  return gross;
}

/** Lifetime gross per server, by `servers.id`. */
function grossByServer({ lifetimes, recent }: Answers): Map<string, Cents> {
  const gross = new Map<string, Cents>();
  for (const row of [...lifetimes, ...recent]) increase(gross, row.server, parseCents(row.gross));
  return gross;
}

function increase(sums: Map<string, Cents>, key: string, amount: Cents): void {
  sums.set(key, (sums.get(key) ?? 0n) + amount);
}

function summary(
  months: readonly Month[],
  grossByMonth: ReadonlyMap<string, Cents>,
  wallet: Answers["wallet"],
): Summary {
  const [current] = months as [Month];
  const yearToDate = split(
    months
      .filter((month) => month.year === current.year)
      .reduce((sum, month) => sum + (grossByMonth.get(month.key) ?? 0n), 0n),
  );
  return create(SummarySchema, {
    totalEarningsYtd: money(yearToDate.earnings),
    platformFeesYtd: money(yearToDate.fee),
    grossRevenueYtd: money(yearToDate.gross),
    currentMonthEarnings: money(split(grossByMonth.get(current.key) ?? 0n).earnings),
    availableBalance: money(parseCents(wallet[0]?.balance ?? "0.00")),
  });
}

function monthlyEarnings(month: Month, gross: Cents): MonthlyEarnings {
  return create(MonthlyEarningsSchema, {
    month: month.label,
    monthAbbreviation: month.abbreviation,
    amount: money(split(gross).earnings),
  });
}

function serverRevenue(answers: Answers): ServerRevenue[] {
  const gross = grossByServer(answers);
  return answers.servers
    .filter((server) => server.deleted === "0" || gross.has(server.id))
    .map((server) => ({
      ...server,
      price: parseHourlyPrice(server.price),
      gross: gross.get(server.id) ?? 0n,
    }))
    .sort(byRank)
    .map((server) => {
      const { gross, fee, earnings } = split(server.gross);
      return create(ServerRevenueSchema, {
        serverId: server.uuid,
        serverName: server.name,
        pricePerHour: decimal(formatHourlyPrice(server.price)),
        totalEarnings: money(earnings),
        platformFees: money(fee),
        grossRevenue: money(gross),
        totalHours: decimal(estimateHours(gross, server.price)),
      });
    });
}

function payout(row: Answers["payouts"][number]): Payout {
  return create(PayoutSchema, {
    payoutId: row.id,
    date: timestamp(fromDatetime(row.paidAt)),
    amount: money(parseCents(row.amount)),
    method: row.method,
    status: row.status,
  });
}
