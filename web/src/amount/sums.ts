/** Sums of the page's own, in cents: of days, and what they are beside others. */
import type {
  DailyRevenue,
  Decimal,
  GetServerBreakdownResponse,
} from "../../../clients/typescript/src/index.ts";
import { formatCents } from "../../../src/db/cents.ts";
import { divide, split } from "../../../src/revenue/fee.ts";
import { longDay, shortDay, shortMonth } from "../instant.ts";
import { type Period, textOf } from "../period/period.ts";
import { hundredths } from "./decimal-text.ts";

/** The figures of some charges. Gross revenue has the refunds, which are zero or negative. */
export interface Sums {
  readonly gross: bigint;
  readonly refunds: bigint;
  /** The platform fee, rounded once, as the service does. */
  readonly fee: bigint;
  readonly earnings: bigint;
  readonly charges: number;
}

/** A day or a month with its figures. */
export interface Span extends Period, Sums {
  /** In short: `22 Nov`, `Nov`. */
  readonly label: string;
  /** In full: `22 Nov 2026`, `Nov 2026 so far`. */
  readonly title: string;
  /** Whether it is not over yet. */
  readonly partial: boolean;
}

/** Adds up decimal numbers with two digits. */
export function add(values: readonly (Decimal | undefined)[]): bigint {
  return values.reduce((sum, value) => sum + hundredths(value), 0n);
}

/** The sum of payouts or charges in cents. */
export function totalOf(rows: readonly { readonly amount?: Decimal | undefined }[]): bigint {
  return add(rows.map(({ amount }) => amount));
}

/** Adds up days: the figures that the service has for all of them. */
export function sumsOf(days: readonly DailyRevenue[]): Sums {
  return {
    ...split({ gross: add(days.map(({ grossRevenue }) => grossRevenue)) }),
    refunds: add(days.map(({ refunds }) => refunds)),
    charges: days.reduce((sum, { charges }) => sum + charges, 0),
  };
}

/**
 * The gross revenue of a period, or of a server in it, in cents: by the breakdown of the period that is shown, or by
 * the days; undefined if they do not say it.
 */
export function grossOf(
  opened: Period,
  server: string | undefined,
  shown: Period,
  breakdown: GetServerBreakdownResponse | undefined,
  days: readonly DailyRevenue[] | undefined,
): bigint | undefined {
  if (textOf(opened) !== textOf(shown)) {
    return server || !days ? undefined : sumsOf(within(days, opened)).gross;
  }
  const of = server ? breakdown?.servers.find(({ serverId }) => serverId === server) : breakdown;
  return of && hundredths(of.totalRevenue);
}

/** The days that lie in a period. */
export function within(days: readonly DailyRevenue[], { startDate, endDate }: Period) {
  return days.filter(({ date }) => date >= startDate && date <= endDate);
}

/** Days, each by itself. */
export function daySpans(days: readonly DailyRevenue[]): Span[] {
  return days.map((day) => span([day], shortDay(day.date), longDay(day.date)));
}

/** Days by month, oldest first. */
export function monthSpans(days: readonly DailyRevenue[]): Span[] {
  const months = Map.groupBy(days, ({ date }) => date.slice(0, 7));
  return Array.from(months, ([month, days]) => {
    const title = shortMonth(month);
    return span(days, title.slice(0, 3), title);
  });
}

function span(days: readonly DailyRevenue[], label: string, name: string): Span {
  const { date: endDate = "", partial = false } = days.at(-1) ?? {};
  const title = partial ? `${name} so far` : name;
  return { startDate: days[0]?.date ?? "", endDate, ...sumsOf(days), label, title, partial };
}

/** How something is beside what it was before: `12.3 % more than`; empty if there is nothing to compare with. */
export function changeOf(now: bigint, before: bigint): string {
  if (before <= 0n) return "";
  const permille = Number(divide((now - before) * 1000n, before));
  if (permille === 0) return "as much as";
  return `${(Math.abs(permille) / 10).toFixed(1)} % ${permille > 0 ? "more" : "less"} than`;
}

/** What an hour earns in cents, rounded half away from zero; undefined without hours, or without earnings yet. */
export function perHour(earnings: Decimal | undefined, hours: Decimal | undefined) {
  const hundredthsOfHours = hundredths(hours);
  if (hundredthsOfHours === 0n) return undefined;
  return divide(hundredths(earnings) * 100n, hundredthsOfHours);
}

/** Days or months as CSV, with the names that the service has for the columns. */
export function spansCsv(spans: readonly Span[]): string {
  const rows = spans.map(({ startDate, endDate, gross, fee, earnings, charges, refunds }) => {
    const amounts = [gross, fee, earnings].map(formatCents);
    return [startDate, endDate, ...amounts, charges, formatCents(refunds)];
  });
  const names = "startDate,endDate,grossRevenue,platformFees,earnings,charges,refunds";
  return [names, ...rows, ""].join("\r\n");
}
