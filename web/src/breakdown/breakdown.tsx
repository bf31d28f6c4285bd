/** A period: its totals, its servers and their instances. */
import type { CallOptions } from "@connectrpc/connect";
import { useCallback, useState } from "preact/hooks";
import {
  type GetServerBreakdownResponse,
  RevenueService,
} from "../../../clients/typescript/src/index.ts";
import { Amount, Count } from "../amount/amount.tsx";
import { type Caller, useCall } from "../call/use-call.ts";
import { ExportBar } from "../export/export-bar.tsx";
import { FigureCard } from "../figure-card.tsx";
import { type Period, presets } from "../period/period.ts";
import { PeriodSection } from "../period/period-section.tsx";
import { PeriodPicker } from "./period-picker.tsx";
import { ServerList } from "./server-list.tsx";

/** Shows the period; first the current month. */
export function Breakdown({ client, reject }: Caller) {
  const [period, setPeriod] = useState<Period>(firstPeriod);
  const { startDate, endDate } = period;
  const send = useCallback(
    (options: CallOptions) => client.getServerBreakdown({ startDate, endDate }, options),
    [client, startDate, endDate],
  );
  const call = useCall(send, reject);
  return (
    <PeriodSection
      title="Servers in a period"
      call={call}
      picker={<PeriodPicker period={period} onPeriod={setPeriod} />}
    >
      {(breakdown, dates) => (
        <>
          <Totals breakdown={breakdown} />
          <section class="card" aria-label="Servers and instances">
            <ServerList servers={breakdown.servers}>
              <ExportBar
                file={`revenue_${dates}`}
                method={RevenueService.method.getServerBreakdown}
                response={breakdown}
                parameters={{ startDate, endDate }}
              />
            </ServerList>
          </section>
        </>
      )}
    </PeriodSection>
  );
}

function firstPeriod(): Period {
  const [{ startDate, endDate } = { startDate: "", endDate: "" }] = presets(new Date());
  return { startDate, endDate };
}

function Totals({ breakdown }: { breakdown: GetServerBreakdownResponse }) {
  const { totalRevenue, totalRentals, activeRentals, activeServers, totalServers } = breakdown;
  return (
    <dl class="cards">
      <FigureCard title="Gross revenue">
        <Amount value={totalRevenue} currency />
      </FigureCard>
      <FigureCard title="Rentals in the period">
        <Count value={totalRentals} />
      </FigureCard>
      <FigureCard title="Rentals running now">
        <Count value={activeRentals} />
      </FigureCard>
      <FigureCard title="Active servers">
        {activeServers} <span class="quiet">of {totalServers}</span>
      </FigureCard>
    </dl>
  );
}
