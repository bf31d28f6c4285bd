/** The days up to now: their totals, and the revenue of each as bars and as a table. */
import { useMemo } from "preact/hooks";
import type {
  DailyRevenue,
  GetDailyRevenueResponse,
} from "../../../clients/typescript/src/index.ts";
import { Refunds } from "../amount/refunds.tsx";
import type { PeriodCall } from "../call/use-call.ts";
import { BarChart } from "../chart/bar-chart.tsx";
import { FigureCards } from "../figure-cards.tsx";
import { longDay, shortDay } from "../instant.ts";
import { lastDays, type Presets } from "../period/period.ts";
import { PeriodSection } from "../period/period-section.tsx";
import { PresetButtons } from "../period/preset-buttons.tsx";
import { type Column, counts, decimals } from "../table/columns.tsx";
import { DataTable } from "../table/data-table.tsx";

const LENGTHS = [7, 30, 90, 365];
const presetsOn: Presets = (today) =>
  LENGTHS.map((count) => ({ title: `${count} days`, ...lastDays(count, today) }));

/** Shows the days. */
export function Daily({ call }: { call: PeriodCall<GetDailyRevenueResponse> }) {
  return (
    <PeriodSection
      id="days"
      title="Revenue per day"
      call={call}
      picker={
        <fieldset class="period">
          <legend class="hidden">Days up to now</legend>
          <PresetButtons
            presetsOn={presetsOn}
            timeZone={call.period.timeZone}
            period={call.period}
            onChoice={call.choose}
          />
        </fieldset>
      }
    >
      {(daily) =>
        daily.charges === 0 ? (
          <p class="card empty">No charges in these days.</p>
        ) : (
          <>
            <FigureCards figures={totalsOf(daily)} />
            <section class="card" aria-labelledby="bars-title">
              <h3 id="bars-title">Earnings by day, after fees</h3>
              <Days days={daily.days} />
            </section>
          </>
        )
      }
    </PeriodSection>
  );
}

function totalsOf(daily: GetDailyRevenueResponse) {
  const { earnings, platformFees, grossRevenue, refunds, charges } = daily;
  return [
    { title: "Total earnings", value: earnings },
    { title: "Total fees", value: platformFees },
    { title: "Total gross", value: grossRevenue, note: <Refunds value={refunds} /> },
    { title: "Total charges", value: charges },
  ];
}

const COLUMNS: readonly Column<DailyRevenue>[] = [
  { title: "Day", value: ({ date }) => date },
  decimals("Earnings", ({ earnings }) => earnings),
  decimals("Fees", ({ platformFees }) => platformFees),
  decimals("Gross", ({ grossRevenue }) => grossRevenue),
  decimals("Refunds", ({ refunds }) => refunds, { detail: true }),
  counts("Charges", ({ charges }) => charges),
];

function Days({ days }: { days: readonly DailyRevenue[] }) {
  const bars = useMemo(
    () =>
      days.map(({ date, earnings, partial }) => {
        return { label: shortDay(date), title: longDay(date), amount: earnings, partial };
      }),
    [days],
  );
  return (
    <BarChart title="Earnings by day" bars={bars} empty="No earnings in these days.">
      <DataTable
        label="Revenue per day"
        columns={COLUMNS}
        main="Earnings"
        order="Day"
        rows={days}
        few={31}
        keyOf={({ date }) => date}
        heading={({ date, partial }) => longDay(date) + (partial ? " so far" : "")}
      />
    </BarChart>
  );
}
