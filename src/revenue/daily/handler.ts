/** GetDailyRevenue: the revenue of each day of a period. */
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  GetDailyRevenueRequest,
  GetDailyRevenueResponse,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { EARLIEST, LATEST } from "../../db/datetime.ts";
import { ServiceError } from "../../errors.ts";
import type { Context } from "../../handler.ts";
import type { Ask } from "../../rollup/read/ask.ts";
import { NO_SUMS, plus, type Sums } from "../../rollup/sums.ts";
import { split } from "../fee.ts";
import { money } from "../message.ts";
import { completePeriod, type Period, parsePeriod } from "../period.ts";
import { dayAt, parseTimeZone } from "../time-zone.ts";
import { daysOf, defaultStart, isPartial } from "./days.ts";
import { MAX_DAYS } from "./queries.ts";
import { createDailyReader } from "./reader.ts";

/**
 * Creates the RPC's function. It rejects with a `ServiceError`: `invalidArgument` for a period that is
 * invalid or touches more than `MAX_DAYS` days, otherwise as `Ask` does.
 */
export function createGetDailyRevenue(ask: Ask) {
  const dailyFor = createDailyReader();
  return async (request: GetDailyRevenueRequest, context: Context) => {
    const { providerId } = context.caller;
    const zone = parseTimeZone(request.timeZone);
    const requested = parsePeriod(request.startDate, request.endDate, zone);
    const { start, end } = requested;
    if (start !== undefined && end !== undefined) checkLength({ start, end }, zone);
    const { value: daily, asOf } = await ask(context, (facts) => {
      const { now } = facts;
      const period = completePeriod(requested, now, defaultStart(requested, now, zone));
      checkLength(period, zone);
      return dailyFor(providerId, period, { kind: "day", zone }, facts);
    });
    const { period, days, sums, now } = daily;
    const message: GetDailyRevenueResponse = {
      $typeName: "revenue.v1.GetDailyRevenueResponse",
      startDate: timestampFromMs(period.start),
      endDate: timestampFromMs(period.end),
      ...figures(sums.reduce(plus, NO_SUMS)),
      days: days.map((day, nth) => ({
        $typeName: "revenue.v1.DailyRevenue",
        date: day.date,
        ...figures(sums[nth] ?? NO_SUMS),
        partial: isPartial(day, period, now),
        startTime: timestampFromMs(Math.max(day.start, EARLIEST)),
        endTime: timestampFromMs(Math.min(day.end, LATEST)),
      })),
      timeZone: zone,
    };
    return { message, asOf };
  };
}

function checkLength(period: Period, zone: string): void {
  const { start, end } = period;
  const numbers = dayAt(end, zone) - dayAt(start, zone) + 1;
  if (numbers <= MAX_DAYS) return;
  // A few days more may have one among them that the zone has left out.
  const days = numbers <= 2 * MAX_DAYS ? daysOf(period, zone).length : numbers;
  if (days <= MAX_DAYS) return;
  const [from, to] = [start, end].map((at) => new Date(at).toISOString());
  throw new ServiceError(
    "invalidArgument",
    `startDate: expected a period of at most ${MAX_DAYS} days, got ${days} (from ${from} to ${to})`,
    { field: "startDate" },
  );
}

/** The figures that a response has for the period and for each day. */
function figures(sums: Sums) {
  const { gross, fee, earnings } = split(sums);
  return {
    grossRevenue: money(gross),
    platformFees: money(fee),
    earnings: money(earnings),
    charges: Number(sums.charges),
    refunds: money(sums.refunds),
  };
}
