/** What was earned this month, the month before and this year; then each month or day, as bars and as a table. */
import { useMemo } from "preact/hooks";
import type {
  DailyRevenue,
  GetDailyRevenueResponse,
} from "../../../clients/typescript/src/index.ts";
import { chargesOf, linkTo } from "../address.ts";
import { dollars } from "../amount/amount.tsx";
import {
  changeOf,
  daySpans,
  monthSpans,
  type Span,
  spansCsv,
  sumsOf,
  within,
} from "../amount/sums.ts";
import { Section } from "../call/section.tsx";
import { BarChart } from "../chart/bar-chart.tsx";
import { Choice } from "../choice.tsx";
import { Export } from "../export/export.tsx";
import { FigureCards } from "../figure-cards.tsx";
import { longMonth, shortDay } from "../instant.ts";
import type { PageCall } from "../page.ts";
import { monthBefore, monthPeriod, type Period, periodText } from "../period/period.ts";
import { type Column, ifAny, numbers, texts } from "../table/columns.tsx";
import { DataTable } from "../table/data-table.tsx";

/** What the bars may be, in the address too. */
const CHARTS = ["12 months", "7 days", "30 days", "90 days", "365 days"];

/** Shows the section, of the days of this month and of the 12 before it. */
export function Earnings(props: PageCall<GetDailyRevenueResponse>) {
  const { call, today, timeZone, provider, address, go } = props;
  const days = call.data?.days;
  const chart = CHARTS.find((title) => title === address.chart) ?? CHARTS[0] ?? "";
  const [count, unit] = chart.split(" ");
  const what = unit === "months" ? "Month" : "Day";
  const spans = useMemo(
    () => days && (what === "Month" ? monthSpans(days) : daySpans(days)).slice(-Number(count)),
    [days, what, count],
  );
  // Links to charges are made of the present address.
  const columns = useMemo(() => columnsOf(what, spans), [what, spans, location.search]);
  const period = { startDate: spans?.[0]?.startDate ?? "", endDate: today };
  const shown = within(days ?? [], period);
  const { earnings, gross } = sumsOf(shown);
  const label = `Earnings by ${what.toLowerCase()}`;
  return (
    <Section id="earnings" title="Earnings" call={call} about={`after fees, ${timeZone}`}>
      <FigureCards figures={figuresOf(days, today)} />
      <section class="card" aria-label={label}>
        <div class="buttons">
          <Choice
            label="Months or days"
            options={CHARTS.map((title) => ({ id: title, title }))}
            chosen={chart}
            choose={(chart) => go({ chart })}
          />
          <a href={linkTo({ statement: today.slice(0, 7) })}>Statement of a month</a>
          {spans && (
            <Export
              title={`${what}s`}
              method="getDailyRevenue"
              answer={{ days: shown }}
              parameters={{ ...period, timeZone }}
              provider={provider}
              asOf={call.asOf}
              csv={what === "Month" ? spansCsv(spans) : undefined}
            />
          )}
        </div>
        <BarChart spans={spans}>
          {/* With others in the first column the order is theirs. */}
          <DataTable key={what} {...{ label, columns, rows: spans }} order={what} few={31} />
        </BarChart>
        {spans && (
          <p class="quiet small">
            {periodText(period)}: {dollars(earnings)}, gross {dollars(gross)}
          </p>
        )}
      </section>
    </Section>
  );
}

function figuresOf(days: readonly DailyRevenue[] | undefined, today: string) {
  const sums = (period: Period) => days && sumsOf(within(days, period));
  const card = (title: string, period: Period, comparison = "") => {
    const { earnings, gross } = sums(period) ?? {};
    const note = `gross ${dollars(gross)}${comparison}`;
    return { title, value: earnings, href: days && chargesOf(period), note };
  };
  const [month, year] = [today.slice(0, 7), today.slice(0, 4)];
  const thisMonth = { startDate: `${month}-01`, endDate: today };
  const [before, last] = [monthBefore(today), monthPeriod(today, -1)];
  const then = sums(before)?.earnings ?? 0n;
  const change = `; ${changeOf(sums(thisMonth)?.earnings ?? 0n, then)} ${dollars(then)} in ${shortDay(before.startDate)} – ${shortDay(before.endDate)}`;
  return [
    card(`${longMonth(month)} so far`, thisMonth, change),
    card(longMonth(last.startDate.slice(0, 7)), last),
    card(`${year} so far`, { startDate: `${year}-01-01`, endDate: today }),
  ];
}

function columnsOf(what: string, spans: readonly Span[] | undefined): readonly Column<Span>[] {
  const refunds = numbers("Refunds", ({ refunds }: Span) => refunds);
  return [
    texts(
      what,
      ({ startDate }) => startDate,
      ({ title }) => title,
    ),
    numbers("Earnings", ({ earnings }) => earnings, { rank: "main", href: (of) => chargesOf(of) }),
    numbers("Fees", ({ fee }) => fee),
    numbers("Gross", ({ gross }) => gross),
    ...ifAny(spans, refunds),
    numbers("Charges", ({ charges }) => charges, { rank: "detail" }),
  ];
}
