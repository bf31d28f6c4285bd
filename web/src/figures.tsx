/** The figures of a provider: the calls that the page makes, and its sections. */
import type { CallOptions } from "@connectrpc/connect";
import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";
import { createRevenueClient } from "../../clients/typescript/src/index.ts";
import { Breakdown } from "./breakdown/breakdown.tsx";
import type { Problem } from "./call/problem.ts";
import { ProblemNotice } from "./call/problem-notice.tsx";
import { useCall, usePeriodCall } from "./call/use-call.ts";
import { Daily } from "./daily/daily.tsx";
import { ExportMenu } from "./export/export-menu.tsx";
import { Overview } from "./overview/overview.tsx";
import { usePayoutPages } from "./overview/payout-pages.ts";
import { choiceOf, lastDays, thisMonth } from "./period/period.ts";
import { SERVICE_URL } from "./service-url.ts";
import { useZone } from "./zone/use-zone.ts";
import { ZoneChoice } from "./zone/zone-choice.tsx";

const LAST_30_DAYS = () => choiceOf((today) => lastDays(30, today));
const THIS_MONTH = () => choiceOf(thisMonth);

const SECTIONS = ["Overview", "Payouts", "Servers", "Days", "Period"];

interface FiguresProps {
  readonly apiKey: string;
  /** Whether the form for the key was here before, and had the focus. */
  readonly entered: boolean;
  /** Is told of a key that is not valid. */
  readonly reject: (problem: Problem) => void;
  readonly forget: () => void;
}

/** Shows the figures. */
export function Figures({ apiKey, entered, reject, forget }: FiguresProps) {
  const client = useMemo(() => createRevenueClient({ baseUrl: SERVICE_URL, apiKey }), [apiKey]);
  const getOverview = useCallback(
    (options: CallOptions) => client.getOverview({}, options),
    [client],
  );
  const overview = useCall(getOverview, reject);
  const payouts = usePayoutPages(client, overview.data, reject);
  // The others follow: a wrong key is refused once, and a slow line has the overview first.
  const answered = overview.data !== undefined || overview.problem !== undefined;
  const ready = answered ? client : undefined;
  const zone = useZone();
  const { timeZone, refuse } = zone;
  const daily = usePeriodCall(ready?.getDailyRevenue, LAST_30_DAYS, timeZone, reject);
  const breakdown = usePeriodCall(ready?.getServerBreakdown, THIS_MONTH, timeZone, reject);
  const calls = [overview, daily, breakdown];
  const zoneProblem = calls.find(({ problem }) => problem?.kind === "zone")?.problem;
  useEffect(() => {
    if (zoneProblem) refuse(zoneProblem);
  }, [zoneProblem, refuse]);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (entered) heading.current?.focus();
  }, [entered]);
  return (
    <>
      <a class="skip" href="#figures">
        Skip to the figures
      </a>
      <header class="top">
        <div class="top-inner">
          <h1 ref={heading} tabIndex={-1}>
            Revenue <span class="badge">beta</span>
          </h1>
          <p class="quiet small">
            Key <code>…{apiKey.slice(-4)}</code> · {zone.choices.length === 1 && "UTC, "}US dollars
            · <a href="docs">API reference</a>
          </p>
          <ZoneChoice zone={zone} />
          <div class="buttons">
            <button type="button" onClick={() => calls.map(({ reload }) => reload())}>
              Refresh
            </button>
            <ExportMenu
              timeZone={timeZone}
              overview={overview}
              daily={daily}
              breakdown={breakdown}
            />
            <button type="button" onClick={forget}>
              Forget key
            </button>
          </div>
        </div>
      </header>
      <div class="stays">
        <nav aria-label="Sections">
          {SECTIONS.map((title) => (
            <a key={title} href={`#${title.toLowerCase()}`}>
              {title}
            </a>
          ))}
        </nav>
        <ProblemNotice calls={payouts.call ? [...calls, payouts.call] : calls} />
      </div>
      <main class="page" id="figures" tabIndex={-1}>
        <Overview call={overview} payouts={payouts} timeZone={timeZone} />
        <Daily call={daily} />
        <Breakdown call={breakdown} />
      </main>
    </>
  );
}
