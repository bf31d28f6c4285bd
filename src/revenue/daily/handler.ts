/** GetDailyRevenue: the revenue of each day of a period. */
import { isDeepStrictEqual } from "node:util";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  GetDailyRevenueRequest,
  GetDailyRevenueResponse,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { fromDatetime, instantOf, toDatetime } from "../../db/datetime.ts";
import type { Read } from "../../db/query.ts";
import { ServiceError } from "../../errors.ts";
import type { Answer, Context } from "../../handler.ts";
import { differences, sumsOf } from "../../rollup/difference.ts";
import type { ReportLag } from "../../rollup/read/lag-log.ts";
import { usedRollup } from "../../rollup/read/sql.ts";
import { NO_SUMS, plus, type Sums } from "../../rollup/sums.ts";
import { countDays, dayOf, startsOfDays } from "../calendar.ts";
import { withEstimatedNow } from "../estimated-now.ts";
import { split } from "../fee.ts";
import { money } from "../message.ts";
import { completePeriod, type Period, parsePeriod } from "../period.ts";
import { countUncovered } from "../raw-charges.ts";
import { daysOf, defaultStart, isPartial, questionFor } from "./days.ts";
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
    const requested = parsePeriod(request.startDate, request.endDate);
    const { start, end } = requested;
    if (start !== undefined && end !== undefined) checkLength({ start, end });
    return withEstimatedNow(estimate, async (estimated) => {
      const days = daysOf(requested, estimated);
      const { statement, values } = questionFor(requested, days);
      const options = { owner: provider, signal };
      const { rows, asOf } = await statement.run(read, { ...values, provider }, options);
      const [state] = rows.state as [Rows["state"][number]];
      const now = fromDatetime(state.now);
      const period = completePeriod(requested, now, defaultStart(requested, now));
      checkLength(period);
      if (!isDeepStrictEqual(daysOf(requested, now), days)) return { now, answer: undefined };
      const rollup = usedRollup(state);
      const uncoveredCharges = countUncovered(rows, state.last, rollup.watermark);
      reportLag(provider, { rollup, uncoveredCharges, now });
      const sums = sumsByDay(rows);
      const message: GetDailyRevenueResponse = {
        $typeName: "revenue.v1.GetDailyRevenueResponse",
        startDate: timestampFromMs(period.start),
        endDate: timestampFromMs(period.end),
        ...figures(sums.values().reduce(plus, NO_SUMS)),
        days: startsOfDays(period.start, period.end).map((day) => ({
          $typeName: "revenue.v1.DailyRevenue",
          date: toDatetime(day).slice(0, "YYYY-MM-DD".length),
          ...figures(sums.get(day) ?? NO_SUMS),
          partial: isPartial(day, period, now),
        })),
      };
      return { now, answer: { message, asOf } };
    });
  };
}

function checkLength({ start, end }: Period): void {
  const days = countDays(start, end);
  if (days <= MAX_DAYS) return;
  const [from, to] = [start, end].map((at) => new Date(at).toISOString());
  throw new ServiceError(
    "invalidArgument",
    `startDate: expected a period of at most ${MAX_DAYS} days, got ${days} (from ${from} to ${to})`,
    { field: "startDate" },
  );
}

/** The sums of each day that has any, by its start in epoch ms. */
function sumsByDay({ before, sums, head, tail, uncovered }: Rows): ReadonlyMap<number, Sums> {
  const byDay = new Map<number, Sums>();
  const add = (at: number, added: Sums) =>
    byDay.set(dayOf(at), plus(byDay.get(dayOf(at)) ?? NO_SUMS, added));
  for (const row of [...head, ...tail, ...uncovered]) add(instantOf(row.at), sumsOf(row));
  // A boundary is the end of a day.
  for (const [at, added] of differences(before[0], sums)) add(fromDatetime(at) - 1, added);
  return byDay;
}

/** The figures that a response has for the period and for each day. */
function figures({ gross, charges, refunds }: Sums) {
  const { fee, earnings } = split(gross);
  return {
    grossRevenue: money(gross),
    platformFees: money(fee),
    earnings: money(earnings),
    charges: Number(charges),
    refunds: money(refunds),
  };
}
