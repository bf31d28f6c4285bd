/** The servers in a period: their totals, each of them, and their instances. */
import type { GetServerBreakdownResponse } from "../../../clients/typescript/src/index.ts";
import { chargesOf } from "../address.ts";
import { dollars } from "../amount/amount.tsx";
import { hundredths } from "../amount/decimal-text.ts";
import { perHour } from "../amount/sums.ts";
import { Section } from "../call/section.tsx";
import { Export } from "../export/export.tsx";
import { FigureCards } from "../figure-cards.tsx";
import type { PageCall } from "../page.ts";
import { type Period, periodText } from "../period/period.ts";
import { PeriodPicker } from "../period/period-picker.tsx";
import { ServerList } from "./server-list.tsx";

interface ServersProps extends PageCall<GetServerBreakdownResponse> {
  /** The period that was asked for. */
  readonly period: Period;
}

/** Shows the section. */
export function Servers({ call, period, today, timeZone, provider, go }: ServersProps) {
  const { data, asOf } = call;
  const parameters = { ...period, timeZone };
  return (
    <Section id="servers" title="Servers" call={call} about={`${periodText(period)}, ${timeZone}`}>
      <PeriodPicker period={period} today={today} go={go} />
      <FigureCards figures={totalsOf(data, chargesOf(period))} />
      <section class="card" aria-label="Servers and instances">
        <ServerList servers={data?.servers} period={period}>
          <Export
            title="Servers"
            method="getServerBreakdown"
            {...{ answer: data, parameters, provider, asOf }}
          />
        </ServerList>
      </section>
    </Section>
  );
}

function totalsOf(breakdown: GetServerBreakdownResponse | undefined, href: string) {
  const { earnings, totalRevenue, refunds, rentedHours, totalRentals } = breakdown ?? {};
  const { activeRentals = 0, activeServers, totalServers = 0 } = breakdown ?? {};
  const ofRefunds = hundredths(refunds) === 0n ? "" : `, of which refunds ${dollars(refunds)}`;
  const hourly = perHour(earnings, rentedHours);
  return [
    {
      title: "Earnings of the period",
      value: earnings,
      href: breakdown && href,
      note: `gross ${dollars(totalRevenue)}${ofRefunds}`,
    },
    {
      title: "Rented hours",
      value: rentedHours,
      plain: true,
      note: hourly === undefined ? "" : `${dollars(hourly)} earned in an hour`,
    },
    { title: "Rentals", value: totalRentals, note: `${activeRentals} running now` },
    { title: "Active servers", value: activeServers, note: `of ${totalServers}` },
  ];
}
