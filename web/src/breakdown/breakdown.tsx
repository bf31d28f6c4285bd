/** A period: its totals, its servers and their instances. */
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { CallOptions } from "@connectrpc/connect";
import { useCallback, useState } from "preact/hooks";
import type {
  createRevenueClient,
  GetServerBreakdownResponse,
} from "../../../clients/typescript/src/index.ts";
import { Amount } from "../amount/amount.tsx";
import type { Problem } from "../call/problem.ts";
import { ProblemNotice } from "../call/problem-notice.tsx";
import { progress, useCall } from "../call/use-call.ts";
import { ExportBar } from "../export/export-bar.tsx";
import { days } from "../instant.ts";
import { breakdownCsv } from "./breakdown-csv.ts";
import { type Period, presets } from "./period.ts";
import { PeriodPicker } from "./period-picker.tsx";
import { ServerList } from "./server-list.tsx";

interface BreakdownProps {
  readonly client: ReturnType<typeof createRevenueClient>;
  /** Is told of a key that is not valid. */
  readonly reject: (problem: Problem) => void;
}

/** Shows the period; first the current month. */
export function Breakdown({ client, reject }: BreakdownProps) {
  const [period, setPeriod] = useState<Period>(firstPeriod);
  const { startDate, endDate } = period;
  const send = useCallback(
    (options: CallOptions) => client.getServerBreakdown({ startDate, endDate }, options),
    [client, startDate, endDate],
  );
  const call = useCall(send, reject);
  const { data, loading, problem } = call;
  const shown = problem?.kind === "request" ? undefined : data;
  return (
    <section aria-labelledby="period-title" aria-busy={loading}>
      <div class="section-head">
        <h2 id="period-title">Servers in a period</h2>
        <p class="quiet small" role="status">
          {loading ? progress(call) : shown && span(shown)}
        </p>
      </div>
      <PeriodPicker period={period} onPeriod={setPeriod} />
      <ProblemNotice call={call} />
      {shown && (
        <div class={loading ? "stale" : ""}>
          <Totals breakdown={shown} />
          <section class="card" aria-label="Servers and instances">
            <ServerList servers={shown.servers}>
              <ExportBar
                file={`revenue_${fileDay(shown.startDate)}_${fileDay(shown.endDate)}`}
                csv={() => breakdownCsv(shown.servers)}
                path="/api/provider/revenue/servers"
                method="getServerBreakdown"
                parameters={{ startDate, endDate }}
              />
            </ServerList>
          </section>
        </div>
      )}
    </section>
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
      <div class="card">
        <dt>Gross revenue</dt>
        <dd>
          <Amount value={totalRevenue} currency />
        </dd>
      </div>
      <div class="card">
        <dt>Rentals in the period</dt>
        <dd>{totalRentals}</dd>
      </div>
      <div class="card">
        <dt>Rentals running now</dt>
        <dd>{activeRentals}</dd>
      </div>
      <div class="card">
        <dt>Active servers</dt>
        <dd>
          {activeServers} <span class="quiet">of {totalServers}</span>
        </dd>
      </div>
    </dl>
  );
}

function span({ startDate, endDate }: GetServerBreakdownResponse): string {
  if (!startDate || !endDate) return "";
  return days(timestampDate(startDate), timestampDate(endDate));
}

function fileDay(timestamp: GetServerBreakdownResponse["startDate"]): string {
  return timestamp ? timestampDate(timestamp).toISOString().slice(0, 10) : "";
}
