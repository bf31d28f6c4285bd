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
import { type Month, recentMonths } from "./calendar.ts";
import type { Context } from "./context.ts";
import { split } from "./fee.ts";
import { decimal, money, timestamp } from "./message.ts";
import { byRank } from "./order.ts";
import { overviewBesideRollup, wholeOverview } from "./overview-questions.ts";
import { estimateHours, formatHourlyPrice, parseHourlyPrice } from "./price.ts";
import { createRollupMemory, type RollupMemory, stillStands } from "./rollup-memory.ts";
import type { Source } from "./source.ts";

/** How many calendar months an overview shows: enough to cover the year to date. */
const MONTHS = 12;

/** What is read whole or beside the rollup alike. */
type Answers = Awaited<ReturnType<typeof overviewBesideRollup.ask>>;

/** What a provider's rollup holds of an overview. */
export interface OverviewPart {
  /** Since which instant it holds, in epoch ms, and until the end of which month, by `Month.key`. */
  readonly since: number;
  readonly month: string;
  /** Gross per month, by `Month.key`; of the current one, until now. */
  readonly months: ReadonlyMap<string, Cents>;
  /** Lifetime gross per server that has a charge, by `servers.id`. */
  readonly servers: ReadonlyMap<string, Cents>;
}

/** A memory of what rollups hold of overviews. */
export function createOverviewMemory(): RollupMemory<OverviewPart> {
  return createRollupMemory(({ months, servers }) => months.size + servers.size);
}

/** Answers GetOverview. Rejects with a `Failure`, as `Read` does. */
export async function getOverview(
  source: Source<OverviewPart>,
  _request: GetOverviewRequest,
  context: Context,
): Promise<GetOverviewResponse> {
  const months = recentMonths(context.now, MONTHS);
  const { answers, part } = await ask(source, months, context);
  const gross = grossByMonth(answers, part);
  return create(GetOverviewResponseSchema, {
    summary: summary(months, gross, answers.singles),
    monthlyEarnings: months.map((month) => monthlyEarnings(month, gross.get(month.key) ?? 0n)),
    serverRevenue: serverRevenue(answers, part),
    recentPayouts: answers.payouts.map(payout),
  });
}

async function ask(
  { read, memory, noteLag }: Source<OverviewPart>,
  months: readonly Month[],
  { caller: { providerId: provider }, now, limits }: Context,
): Promise<{ answers: Answers; part: OverviewPart }> {
  const [current, oldest] = [months[0] as Month, months.at(-1) as Month];
  const values = { provider, now: toDatetime(now) };
  const fits = ({ since, month }: OverviewPart) => since <= now && month === current.key;
  const known = memory.recall(provider, fits);
  if (known) {
    const { cut } = known.state;
    const answers = await overviewBesideRollup.ask(read, { ...values, cut }, limits);
    if (stillStands(known, answers.singles)) {
      noteLag(provider, known.state, now);
      return { answers, part: known.part };
    }
  }
  const [firstMonth, nextMonth] = [toDatetime(oldest.start), toDatetime(current.end)];
  const answers = await wholeOverview.ask(read, { ...values, firstMonth, nextMonth }, limits);
  const part = partOf(answers, now, current);
  const [state] = answers.singles;
  if (state) noteLag(provider, state, now);
  // What is dated after now becomes due as time goes by; without any, nothing does.
  if (state && answers.upcoming[0]?.charges === "0") {
    memory.remember(provider, { state, part }, fits);
  }
  return { answers, part };
}

function partOf(
  { months, upcoming, lifetimes }: Awaited<ReturnType<typeof wholeOverview.ask>>,
  now: number,
  current: Month,
): OverviewPart {
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
function grossByMonth({ recent }: Answers, { months }: OverviewPart): Map<string, Cents> {
  const gross = new Map(months);
  for (const row of recent) increase(gross, row.month, parseCents(row.due));
  return gross;
}

/** Lifetime gross per server, by `servers.id`. */
function grossByServer({ recent }: Answers, { servers }: OverviewPart): Map<string, Cents> {
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
  [single]: Answers["singles"],
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

function serverRevenue(answers: Answers, part: OverviewPart): ServerRevenue[] {
  const gross = grossByServer(answers, part);
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
