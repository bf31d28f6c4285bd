/** The expected overview of a ledger: its rows filtered and summed, as the comments of the proto file define. */
import { hourlyPrice, hours, sum, tenPercent, timestamp, usd } from "./json-figures.ts";
import type { Charge, Ledger, Payout, Server } from "./ledger.ts";
import { ranked } from "./rank.ts";

const MONTH_NAME = new Intl.DateTimeFormat("en-US", { month: "long", timeZone: "UTC" });
const MONTH_ABBREVIATION = new Intl.DateTimeFormat("en-US", { month: "short", timeZone: "UTC" });

/** The overview at `now` (ISO 8601), as protobuf JSON. */
export function expectedOverview(ledger: Ledger, now: string) {
  const past = ledger.charges.filter((charge) => charge.at <= now);
  const year = grossOf(past.filter((charge) => charge.at.slice(0, 4) === now.slice(0, 4)));
  const month = grossOf(past.filter((charge) => charge.at.slice(0, 7) === now.slice(0, 7)));
  return {
    summary: {
      totalEarningsYTD: usd(year - tenPercent(year)),
      platformFeesYTD: usd(tenPercent(year)),
      grossRevenueYTD: usd(year),
      currentMonthEarnings: usd(month - tenPercent(month)),
      availableBalance: usd(ledger.balance ?? 0n),
    },
    monthlyEarnings: lastTwelveMonths(now).map((month) => monthlyEarnings(month, past)),
    serverRevenue: serverRevenue(ledger, past),
    recentPayouts: expectedPayouts(ledger).slice(0, 10),
  };
}

/** All payouts, as protobuf JSON. */
export function expectedPayouts({ payouts }: Ledger) {
  return payouts.toSorted(latestFirst).map(payoutEntry);
}

/** The month of `now` and the eleven before it, as `YYYY-MM`. */
function lastTwelveMonths(now: string): string[] {
  const current = Temporal.PlainYearMonth.from(now.slice(0, 7));
  return Array.from({ length: 12 }, (_, months) => current.subtract({ months }).toString());
}

function monthlyEarnings(month: string, past: readonly Charge[]) {
  const gross = grossOf(past.filter((charge) => charge.at.startsWith(month)));
  const day = new Date(`${month}-15T00:00:00Z`);
  return {
    month: `${MONTH_NAME.format(day)} ${Number(month.slice(0, 4))}`,
    monthAbbreviation: MONTH_ABBREVIATION.format(day),
    amount: usd(gross - tenPercent(gross)),
    startTime: `${month}-01T00:00:00Z`,
  };
}

function serverRevenue(ledger: Ledger, past: readonly Charge[]) {
  const chargesOf = ({ id }: Server) => past.filter((charge) => charge.server === id);
  return ranked(
    ledger.servers
      .filter((server) => server.deletedAt === null || chargesOf(server).length > 0)
      .map((server) => ({ ...server, gross: grossOf(chargesOf(server)) })),
  ).map(({ uuid, name, price, gross }) => ({
    serverId: uuid,
    serverName: name,
    pricePerHour: hourlyPrice(price),
    totalEarnings: usd(gross - tenPercent(gross)),
    platformFees: usd(tenPercent(gross)),
    grossRevenue: usd(gross),
    totalHours: hours(gross, price),
  }));
}

function latestFirst(a: Payout, b: Payout): number {
  if (a.paidAt !== b.paidAt) return a.paidAt > b.paidAt ? -1 : 1;
  return a.id > b.id ? -1 : 1;
}

function payoutEntry({ publicId, paidAt, amount, method, status }: Payout) {
  return { payoutId: publicId, date: timestamp(paidAt), amount: usd(amount), method, status };
}

function grossOf(charges: readonly Charge[]): bigint {
  return sum(charges.map((charge) => charge.gross));
}
