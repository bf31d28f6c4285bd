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
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { type Cents, parseCents } from "../../db/cents.ts";
import { fromDatetime, toDatetime } from "../../db/datetime.ts";
import { createTotalsCache, isCurrent, type TotalsCache } from "../../rollup/read/cache.ts";
import { type Month, recentMonths } from "../calendar.ts";
import type { Context } from "../context.ts";
import { split } from "../fee.ts";
import { decimal, money, timestamp } from "../message.ts";
import { estimateHours, formatHourlyPrice, parseHourlyPrice } from "../price.ts";
import { byRank } from "../ranking.ts";
import type { Source } from "../source.ts";
import { fullOverview, uncoveredOverview } from "./queries.ts";

/** How many calendar months an overview shows: enough to cover the year to date. */
const MONTHS = 12;

/** What is read whole or uncovered the rollup alike. */
type Rows = Awaited<ReturnType<typeof uncoveredOverview.run>>;

/** What a provider's rollup holds of an overview. */
export interface OverviewTotals {
  /** Since which instant it holds, in epoch ms, and until the end of which month, by `Month.key`. */
  readonly since: number;
  readonly month: string;
  /** Gross per month, by `Month.key`; of the current one, until now. */
  readonly months: ReadonlyMap<string, Cents>;
  /** Lifetime gross per server that has a charge, by `servers.id`. */
  readonly servers: ReadonlyMap<string, Cents>;
}

/** A cache of what rollups hold of overviews. */
export function createOverviewCache(): TotalsCache<OverviewTotals> {
  return createTotalsCache(({ months, servers }) => months.size + servers.size);
}

/** Rows GetOverview. Rejects with a `ServiceError`, as `Read` does. */
export async function getOverview(
  source: Source<OverviewTotals>,
  _request: GetOverviewRequest,
  context: Context,
): Promise<GetOverviewResponse> {
  const months = recentMonths(context.now, MONTHS);
  const { rows, part } = await query(source, months, context);
  const gross = grossByMonth(rows, part);
  return create(GetOverviewResponseSchema, {
    summary: summary(months, gross, rows.singles),
    monthlyEarnings: months.map((month) => monthlyEarnings(month, gross.get(month.key) ?? 0n)),
    serverRevenue: serverRevenue(rows, part),
    recentPayouts: rows.payouts.map(payout),
  });
}

async function query(
  { read, cache, reportLag }: Source<OverviewTotals>,
  months: readonly Month[],
  { caller: { providerId: provider }, now, signal }: Context,
): Promise<{ rows: Rows; part: OverviewTotals }> {
  const [current, oldest] = [months[0] as Month, months.at(-1) as Month];
  const values = { provider, now: toDatetime(now) };
  const fits = ({ since, month }: OverviewTotals) => since <= now && month === current.key;
  const known = cache.get(provider, fits);
  if (known) {
    const { watermark } = known.state;
    const rows = await uncoveredOverview.run(read, { ...values, watermark }, signal);
    if (isCurrent(known, rows.singles)) {
      reportLag(provider, known.state, now);
      return { rows, part: known.part };
    }
  }
  const [firstMonth, nextMonth] = [toDatetime(oldest.start), toDatetime(current.end)];
  const rows = await fullOverview.run(read, { ...values, firstMonth, nextMonth }, signal);
  const part = partOf(rows, now, current);
  const [state] = rows.singles;
  if (state) reportLag(provider, state, now);
  // What is dated after now becomes due as time goes by; without any, nothing does.
  if (state && rows.upcoming[0]?.charges === "0") {
    cache.set(provider, { state, part }, fits);
  }
  return { rows, part };
}

function partOf(
  { months, upcoming, lifetimes }: Awaited<ReturnType<typeof fullOverview.run>>,
  now: number,
  current: Month,
): OverviewTotals {
  const gross = new Map(months.map((row) => [row.month, parseCents(row.gross)]));
  for (const row of upcoming) increase(gross, current.key, -parseCents(row.gross));
  return {
    since: now,
    month: current.key,
    months: gross,
    servers: new Map(lifetimes.map((row) => [row.server, parseCents(row.gross)])),
  };
}

/** Gross per month, by `Month.key`; of the current one, until now. */
function grossByMonth({ recent }: Rows, { months }: OverviewTotals): Map<string, Cents> {
  const gross = new Map(months);
  for (const row of recent) increase(gross, row.month, parseCents(row.due));
  return gross;
}

/** Lifetime gross per server, by `servers.id`. */
function grossByServer({ recent }: Rows, { servers }: OverviewTotals): Map<string, Cents> {
  const gross = new Map(servers);
  for (const row of recent) increase(gross, row.server, parseCents(row.gross));
  return gross;
}

function increase(sums: Map<string, Cents>, key: string, amount: Cents): void {
  sums.set(key, (sums.get(key) ?? 0n) + amount);
}

function summary(
  months: readonly Month[],
  grossByMonth: ReadonlyMap<string, Cents>,
  [single]: Rows["singles"],
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
    availableBalance: money(parseCents(single?.balance || "0.00")),
  });
}

function monthlyEarnings(month: Month, gross: Cents): MonthlyEarnings {
  return create(MonthlyEarningsSchema, {
    month: month.label,
    monthAbbreviation: month.abbreviation,
    amount: money(split(gross).earnings),
  });
}

function serverRevenue(rows: Rows, part: OverviewTotals): ServerRevenue[] {
  const gross = grossByServer(rows, part);
  return rows.servers
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

function payout(row: Rows["payouts"][number]): Payout {
  return create(PayoutSchema, {
    payoutId: row.id,
    date: timestamp(fromDatetime(row.paidAt)),
    amount: money(parseCents(row.amount)),
    method: row.method,
    status: row.status,
  });
}
