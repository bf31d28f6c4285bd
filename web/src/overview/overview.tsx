/** The overview: summary, months, payouts and the lifetime of each server. */
import type { GetOverviewResponse, Summary } from "../../../clients/typescript/src/index.ts";
import { Amount } from "../amount/amount.tsx";
import { type CallState, progress } from "../call/use-call.ts";
import { FigureCards } from "../figure-cards.tsx";
import { instant, UTC } from "../instant.ts";
import { FailedPayouts } from "./failed-payouts.tsx";
import { Months } from "./months.tsx";
import type { PayoutPages } from "./payout-pages.ts";
import { Payouts } from "./payouts.tsx";
import { Servers } from "./servers.tsx";

interface OverviewProps {
  readonly call: CallState<GetOverviewResponse>;
  readonly payouts: PayoutPages;
  readonly timeZone: string;
}

/** Shows the overview. */
export function Overview({ call, payouts, timeZone }: OverviewProps) {
  const { data, loading, asOf } = call;
  return (
    <section id="overview" aria-labelledby="overview-title" aria-busy={loading}>
      <div class="section-head">
        <h2 id="overview-title">Overview</h2>
        <p class="quiet small" role="status">
          {loading ? progress(call) : asOf && `As of ${instant(asOf, timeZone)}, ${timeZone}`}
        </p>
      </div>
      {data && (
        <>
          <FailedPayouts latest={data.recentPayouts} timeZone={timeZone} />
          <FigureCards figures={totalsOf(data.summary)} />
          {timeZone !== UTC && (
            <p class="quiet small">
              Months and years of the overview are in UTC, days and periods below in {timeZone}.
            </p>
          )}
          <div class="columns">
            <Months months={data.monthlyEarnings} />
            <Payouts pages={payouts} timeZone={timeZone} />
          </div>
          <Servers overview={data} />
        </>
      )}
    </section>
  );
}

function totalsOf(summary: Summary | undefined) {
  const fees = <Amount value={summary?.platformFeesYtd} currency />;
  return [
    { title: "Available balance", value: summary?.availableBalance },
    { title: "Earnings this month", value: summary?.currentMonthEarnings },
    { title: "Earnings this year", value: summary?.totalEarningsYtd },
    {
      title: "Gross revenue this year",
      value: summary?.grossRevenueYtd,
      note: <>of which platform fees {fees}</>,
    },
  ];
}
