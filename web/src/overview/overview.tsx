/** The overview: summary, months, payouts and the lifetime of each server. */
import type { CallOptions } from "@connectrpc/connect";
import { useCallback, useEffect } from "preact/hooks";
import { ProblemNotice } from "../call/problem-notice.tsx";
import { type Caller, progress, useCall } from "../call/use-call.ts";
import { instant } from "../instant.ts";
import { Months } from "./months.tsx";
import { Payouts } from "./payouts.tsx";
import { Servers } from "./servers.tsx";
import { SummaryCards } from "./summary-cards.tsx";

interface OverviewProps extends Caller {
  /** Is told that the key is valid, as far as the service can say. */
  readonly accept: () => void;
}

/** Shows the overview. */
export function Overview({ client, reject, accept }: OverviewProps) {
  const send = useCallback((options: CallOptions) => client.getOverview({}, options), [client]);
  const call = useCall(send, reject);
  const { data, problem, loading, asOf, reload } = call;
  const isAccepted = data !== undefined || (problem !== undefined && problem.kind !== "key");
  useEffect(() => {
    if (isAccepted) accept();
  }, [isAccepted, accept]);
  return (
    <section aria-labelledby="overview-title" aria-busy={loading}>
      <div class="section-head">
        <h2 id="overview-title">Overview</h2>
        <p class="quiet small" role="status">
          {loading ? progress(call) : asOf && `As of ${instant(asOf)}`}
        </p>
        <button type="button" onClick={reload} disabled={loading}>
          Refresh
        </button>
      </div>
      <ProblemNotice call={call} />
      {data ? (
        <>
          <SummaryCards summary={data.summary} />
          <div class="columns">
            <Months months={data.monthlyEarnings} />
            <Payouts payouts={data.recentPayouts} />
          </div>
          <Servers overview={data} />
        </>
      ) : (
        loading && <Skeleton />
      )}
    </section>
  );
}

function Skeleton() {
  return (
    <div class="skeleton" aria-hidden="true">
      <div class="cards">
        {[1, 2, 3, 4].map((card) => (
          <div class="card" key={card} />
        ))}
      </div>
      <div class="card tall" />
    </div>
  );
}
