/** ListDailyRevenue: the revenue of each day of a period. */
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  DailyRevenue,
  ListDailyRevenueRequest,
  ListDailyRevenueResponse,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { type Cents, parseCents } from "../../db/cents.ts";
import { fromDatetime, instantOf, toDatetime } from "../../db/datetime.ts";
import type { Read } from "../../db/query.ts";
import { ServiceError } from "../../errors.ts";
import type { Answer, Context } from "../../handler.ts";
import type { ReportLag } from "../../rollup/read/lag-log.ts";
import { usedRollup } from "../../rollup/read/sql.ts";
import { split } from "../fee.ts";
import { money } from "../message.ts";
import { completePeriod, type Period, parsePeriod, periodParameters } from "../period.ts";
import { dailyRevenue, MAX_DAYS } from "./queries.ts";

type Rows = Awaited<ReturnType<typeof dailyRevenue.run>>["rows"];

/** Charges of a day: their gross and their number. */
interface Sums {
  readonly gross: Cents;
  readonly charges: number;
}
const NONE: Sums = { gross: 0n, charges: 0 };

/** A day, in ms. */
const DAY = 86_400_000;

/**
 * Creates the RPC's function. It rejects with a `ServiceError`: `invalidArgument` for a period that is
 * invalid or touches more than `MAX_DAYS` days, otherwise as `Read` does.
 */
export function createListDailyRevenue(read: Read, reportLag: ReportLag) {
  return async (
    request: ListDailyRevenueRequest,
    { caller: { providerId: provider }, signal }: Context,
  ): Promise<Answer<ListDailyRevenueResponse>> => {
    const requested = parsePeriod(request.startDate, request.endDate);
    const { start, end } = requested;
    if (start !== undefined && end !== undefined) checkLength({ start, end });
    const values = { provider, ...periodParameters(requested) };
    const { rows, asOf } = await dailyRevenue.run(read, values, { owner: provider, signal });
    const [state] = rows.state as [Rows["state"][number]];
    const now = fromDatetime(state.now);
    const period = completePeriod(requested, now);
    checkLength(period);
    const uncovered = partsOf(rows).reduce((sum, row) => sum + Number(row.uncovered), 0);
    reportLag(provider, { rollup: usedRollup(state), uncoveredCharges: uncovered, now });
    const sums = sumsByDay(rows);
    const days = daysOf(period).map((day) => dayRevenue(day, sums.get(day) ?? NONE));
    const message: ListDailyRevenueResponse = {
      $typeName: "revenue.v1.ListDailyRevenueResponse",
      startDate: timestampFromMs(period.start),
      endDate: timestampFromMs(period.end),
      ...figures(sums.values().reduce(plus, NONE)),
      days,
    };
    return { message, asOf };
  };
}

function checkLength({ start, end }: Period): void {
  const days = dayOf(end) - dayOf(start) + 1;
  if (days <= MAX_DAYS) return;
  const [from, to] = [start, end].map((at) => new Date(at).toISOString());
  throw new ServiceError(
    "invalidArgument",
    `startDate: expected a period of at most ${MAX_DAYS} days, got ${days} (from ${from} to ${to})`,
  );
}

/** The number of the day of an instant (epoch ms), counted from 1970. */
const dayOf = (instant: number) => Math.floor(instant / DAY);

/** The days that a period touches, oldest first. */
function daysOf({ start, end }: Period): number[] {
  const first = dayOf(start);
  return Array.from({ length: dayOf(end) - first + 1 }, (_, nth) => first + nth);
}

/** The rows that are read from the ledger. */
function partsOf({ head, tail, uncovered }: Rows) {
  return [...head, ...tail, ...uncovered];
}

/** The charges of each day that has any. */
function sumsByDay(rows: Rows): ReadonlyMap<number, Sums> {
  const byDay = new Map<number, Sums>();
  const add = (day: number, sums: Sums) => byDay.set(day, plus(byDay.get(day) ?? NONE, sums));
  for (const row of partsOf(rows)) add(dayOf(instantOf(row.at)), sumsOf(row));
  let before = rows.before[0] === undefined ? NONE : sumsOf(rows.before[0]);
  for (const row of rows.sums.toSorted((one, other) => (one.at < other.at ? -1 : 1))) {
    const upTo = sumsOf(row);
    const { gross, charges } = upTo;
    // The boundary is the end of the day.
    const day = dayOf(fromDatetime(row.at) - 1);
    add(day, { gross: gross - before.gross, charges: charges - before.charges });
    before = upTo;
  }
  return byDay;
}

function sumsOf({ gross, charges }: { readonly gross: string; readonly charges: string }): Sums {
  return { gross: parseCents(gross), charges: Number(charges) };
}

function plus(one: Sums, other: Sums): Sums {
  return { gross: one.gross + other.gross, charges: one.charges + other.charges };
}

function dayRevenue(day: number, sums: Sums): DailyRevenue {
  return {
    $typeName: "revenue.v1.DailyRevenue",
    date: toDatetime(day * DAY).slice(0, "YYYY-MM-DD".length),
    ...figures(sums),
  };
}

/** The figures that a response has for the period and for each day. */
function figures({ gross, charges }: Sums) {
  const { fee, earnings } = split(gross);
  return {
    grossRevenue: money(gross),
    platformFees: money(fee),
    earnings: money(earnings),
    charges,
  };
}
