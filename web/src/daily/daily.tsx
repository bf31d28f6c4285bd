/** The days up to now: their totals, and the revenue of each as bars and as a table. */
import type { CallOptions } from "@connectrpc/connect";
import { useCallback, useMemo, useState } from "preact/hooks";
import {
  type DailyRevenue,
  type GetDailyRevenueResponse,
  RevenueService,
} from "../../../clients/typescript/src/index.ts";
import { Amount, Count } from "../amount/amount.tsx";
import { type Caller, useCall } from "../call/use-call.ts";
import { BarChart } from "../chart/bar-chart.tsx";
import { ExportBar } from "../export/export-bar.tsx";
import { FigureCard } from "../figure-card.tsx";
import { longDay, shortDay } from "../instant.ts";
import { lastDays, type Period } from "../period/period.ts";
import { PeriodSection } from "../period/period-section.tsx";
import { PresetButtons } from "../period/preset-buttons.tsx";
import { DayList } from "./day-list.tsx";

const LENGTHS = [7, 30, 90, 365];
const presetsAt = (now: Date) =>
  LENGTHS.map((count) => ({ title: `${count} days`, ...lastDays(count, now) }));

/** Shows the days; first the last 30. */
export function Daily({ client, reject }: Caller) {
  const [period, setPeriod] = useState<Period>(() => lastDays(30, new Date()));
  const { startDate, endDate } = period;
  const send = useCallback(
    (options: CallOptions) => client.getDailyRevenue({ startDate, endDate }, options),
    [client, startDate, endDate],
  );
  const call = useCall(send, reject);
  return (
    <PeriodSection
      title="Revenue per day"
      call={call}
      picker={
        <fieldset class="period">
          <legend class="hidden">Days up to now</legend>
          <PresetButtons presetsAt={presetsAt} period={period} onPeriod={setPeriod} />
        </fieldset>
      }
    >
      {(daily, dates) => (
        <>
          <Totals daily={daily} />
          <section class="card" aria-labelledby="days-title">
            <div class="card-head">
              <h3 id="days-title">Earnings by day</h3>
              <ExportBar
                file={`revenue-per-day_${dates}`}
                method={RevenueService.method.getDailyRevenue}
                response={daily}
                parameters={{ startDate, endDate }}
              />
            </div>
            <DayBars days={daily.days} />
            <DayList days={daily.days} />
          </section>
        </>
      )}
    </PeriodSection>
  );
}

function Totals({ daily }: { daily: GetDailyRevenueResponse }) {
  return (
    <dl class="cards">
      <FigureCard title="Total earnings">
        <Amount value={daily.earnings} currency />
      </FigureCard>
      <FigureCard title="Total fees">
        <Amount value={daily.platformFees} currency />
      </FigureCard>
      <FigureCard title="Total gross">
        <Amount value={daily.grossRevenue} currency />
      </FigureCard>
      <FigureCard title="Total charges">
        <Count value={daily.charges} />
      </FigureCard>
    </dl>
  );
}

function DayBars({ days }: { days: readonly DailyRevenue[] }) {
  const bars = useMemo(
    () =>
      days.map(({ date, earnings }) => ({
        label: shortDay(new Date(date)),
        title: longDay(new Date(date)),
        amount: earnings,
      })),
    [days],
  );
  return (
    <BarChart
      bars={bars}
      unit="Day"
      note="After the platform fee. The last bar is today so far."
      empty="No earnings in these days."
    />
  );
}
