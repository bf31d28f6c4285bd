/** GetDailyRevenue: the revenue of each day of a period. */
import { isDeepStrictEqual } from "node:util";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  GetDailyRevenueRequest,
  GetDailyRevenueResponse,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { EARLIEST, fromDatetime, instantOf, LATEST } from "../../db/datetime.ts";
import type { Read } from "../../db/query.ts";
import { ServiceError } from "../../errors.ts";
import type { Answer, Context } from "../../handler.ts";
import type { ReportLag } from "../../rollup/read/lag-log.ts";
import { usedRollup } from "../../rollup/read/sql.ts";
import { increments, sumsOf } from "../../rollup/stored-sums.ts";
import { NO_SUMS, plus, type Sums } from "../../rollup/sums.ts";
import { withEstimatedNow } from "../estimated-now.ts";
import { split } from "../fee.ts";
import { money } from "../message.ts";
import { completePeriod, type Period, parsePeriod } from "../period.ts";
import { countUncovered } from "../raw-charges.ts";
import { dayAt, parseTimeZone } from "../time-zone.ts";
import { type Day, daysOf, defaultStart, isPartial, listDays, questionFor } from "./days.ts";
import { type dailyOfMonth, MAX_DAYS } from "./queries.ts";

type Rows = Awaited<ReturnType<typeof dailyOfMonth.run>>["rows"];

/**
 * Creates the RPC's function. It rejects with a `ServiceError`: `invalidArgument` for a period that is
 * invalid or touches more than `MAX_DAYS` days, otherwise as `Read` does.
 */
export function createGetDailyRevenue(read: Read, reportLag: ReportLag) {
  return async (
    request: GetDailyRevenueRequest,
    { caller: { providerId: provider }, now: estimate, signal }: Context,
  ): Promise<Answer<GetDailyRevenueResponse>> => {
    const zone = parseTimeZone(request.timeZone);
    const requested = parsePeriod(request.startDate, request.endDate, zone);
    const { start, end } = requested;
    if (start !== undefined && end !== undefined) checkLength({ start, end }, zone);
    return withEstimatedNow(estimate, async (estimated) => {
      const days = daysOf(requested, estimated, zone);
      const list = listDays(days.from, days.to, zone);
      const { statement, values } = questionFor(requested, days, list, zone);
      const options = { owner: provider, signal };
      const { rows, asOf } = await statement.run(read, { ...values, provider }, options);
      const [state] = rows.state as [Rows["state"][number]];
      const now = fromDatetime(state.now);
      const period = completePeriod(requested, now, defaultStart(requested, now, zone));
      checkLength(period, zone);
      if (!isDeepStrictEqual(daysOf(requested, now, zone), days)) return { now, answer: undefined };
      const rollup = usedRollup(state);
      const uncoveredCharges = countUncovered(rows, state.last, rollup.watermark);
      reportLag(provider, { rollup, uncoveredCharges, now });
      const sums = sumsByDay(rows, list);
      const message: GetDailyRevenueResponse = {
        $typeName: "revenue.v1.GetDailyRevenueResponse",
        startDate: timestampFromMs(period.start),
        endDate: timestampFromMs(period.end),
        ...figures(sums.reduce(plus, NO_SUMS)),
        days: list.map((day, nth) => ({
          $typeName: "revenue.v1.DailyRevenue",
          date: day.date,
          ...figures(sums[nth] ?? NO_SUMS),
          partial: isPartial(day, period, now),
          startTime: timestampFromMs(Math.max(day.start, EARLIEST)),
          endTime: timestampFromMs(Math.min(day.end, LATEST)),
        })),
        timeZone: zone,
      };
      return { now, answer: { message, asOf } };
    });
  };
}

function checkLength({ start, end }: Period, zone: string): void {
  const [first, last] = [dayAt(start, zone), dayAt(end, zone)];
  const numbers = last - first + 1;
  if (numbers <= MAX_DAYS) return;
  // A few days more may have one among them that the zone has left out.
  const days = numbers <= 2 * MAX_DAYS ? listDays(first, last, zone).length : numbers;
  if (days <= MAX_DAYS) return;
  const [from, to] = [start, end].map((at) => new Date(at).toISOString());
  throw new ServiceError(
    "invalidArgument",
    `startDate: expected a period of at most ${MAX_DAYS} days, got ${days} (from ${from} to ${to})`,
    { field: "startDate" },
  );
}

/** The sums of each of some consecutive days. */
function sumsByDay(
  { before, sums, head, tail, uncovered }: Rows,
  days: readonly Day[],
): readonly Sums[] {
  const byDay = days.map(() => NO_SUMS);
  const add = (at: number, added: Sums) => {
    const day = indexOf(at, days);
    byDay[day] = plus(byDay[day] ?? NO_SUMS, added);
  };
  for (const row of [...head, ...tail, ...uncovered]) add(instantOf(row.at), sumsOf(row));
  // A boundary is the end of a day.
  for (const [at, added] of increments(before[0], sums)) add(fromDatetime(at) - 1, added);
  return byDay;
}

/** The place of the day that an instant lies in. */
function indexOf(instant: number, days: readonly Day[]): number {
  let [low, high] = [0, days.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((days[middle]?.start ?? Infinity) <= instant) low = middle;
    else high = middle - 1;
  }
  return low;
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
