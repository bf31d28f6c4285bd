/** A period: its totals, its servers and their instances. */
import type { GetServerBreakdownResponse } from "../../../clients/typescript/src/index.ts";
import { Amount, Count } from "../amount/amount.tsx";
import { earningsPerHour } from "../amount/earnings-per-hour.ts";
import { Refunds } from "../amount/refunds.tsx";
import type { PeriodCall } from "../call/use-call.ts";
import { FigureCards } from "../figure-cards.tsx";
import { PeriodSection } from "../period/period-section.tsx";
import { PeriodPicker } from "./period-picker.tsx";
import { ServerList } from "./server-list.tsx";

/** Shows the period. */
export function Breakdown({ call }: { call: PeriodCall<GetServerBreakdownResponse> }) {
  return (
    <PeriodSection
      id="period"
      title="Servers in a period"
      call={call}
      picker={<PeriodPicker period={call.period} onChoice={call.choose} />}
    >
      {(breakdown) => (
        <>
          <FigureCards figures={totalsOf(breakdown)} />
          <section class="card" aria-label="Servers and instances">
            <ServerList servers={breakdown.servers} />
          </section>
        </>
      )}
    </PeriodSection>
  );
}

function totalsOf(breakdown: GetServerBreakdownResponse) {
  const { totalRevenue, refunds, rentedHours, totalRentals, activeRentals } = breakdown;
  const { activeServers, totalServers } = breakdown;
  const perHour = earningsPerHour(breakdown);
  return [
    { title: "Gross revenue", value: totalRevenue, note: <Refunds value={refunds} /> },
    {
      title: "Rented hours",
      value: rentedHours,
      currency: false,
      note: perHour && (
        <>
          Earnings per rented hour <Amount value={perHour} currency />
        </>
      ),
    },
    {
      title: "Rentals in the period",
      value: totalRentals,
      note: (
        <>
          Rentals running now <Count value={activeRentals} />
        </>
      ),
    },
    { title: `Active of ${totalServers.toLocaleString("en-US")} servers`, value: activeServers },
  ];
}
