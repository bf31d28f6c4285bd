/** The figures of a provider: the calls that the page makes, and its sections. */
import { useEffect, useMemo, useRef } from "preact/hooks";
import { createRevenueClient } from "../../clients/typescript/src/index.ts";
import { FIGURES, linkTo, useAddress, writeAddress } from "./address.ts";
import { grossOf } from "./amount/sums.ts";
import { ProblemNotice } from "./call/problem-notice.tsx";
import { type Reject, useRpc } from "./call/use-call.ts";
import { usePages } from "./call/use-pages.ts";
import { Charges } from "./charges/charges.tsx";
import { Choice } from "./choice.tsx";
import { Earnings } from "./earnings/earnings.tsx";
import { dayAt, instant } from "./instant.ts";
import { Payouts } from "./payouts/payouts.tsx";
import { dayOf } from "./payouts/settlement.ts";
import { daysIn, monthPeriod, monthsUpTo, periodIn } from "./period/period.ts";
import { Servers } from "./servers/servers.tsx";
import { SERVICE_URL } from "./service-url.ts";
import { Statement } from "./statement/statement.tsx";
import { useZone } from "./zone.ts";

const SECTIONS = ["Payouts", "Earnings", "Servers"];
/** How many payouts are asked for at once. */
const PAGE = 500;

interface FiguresProps {
  readonly apiKey: string;
  /** Whether the form for the key was here before, and had the focus. */
  readonly entered: boolean;
  readonly reject: Reject;
  readonly forget: () => void;
}

/** Shows the figures. */
export function Figures({ apiKey, entered, reject, forget }: FiguresProps) {
  const client = useMemo(() => createRevenueClient({ baseUrl: SERVICE_URL, apiKey }), [apiKey]);
  const [address, go] = useAddress();
  const { timeZone, choices, problem, refuse } = useZone(address.zone);
  const overview = useRpc(client.getOverview, {}, client, reject);
  // The others follow: a wrong key is refused once, and their calendar begins at the instant of this answer.
  const { asOf } = overview;
  const today = asOf ? dayAt(asOf, timeZone) : "1970-01-01";
  const { startDate } = monthPeriod(today, -12);
  const payouts = usePages(
    async (pageToken, options) => {
      const page = await client.listPayouts({ pageSize: PAGE, pageToken }, options);
      return { rows: page.payouts, next: page.nextPageToken };
    },
    (rows) => rows.some((payout) => dayOf(payout, timeZone) < startDate),
    asOf,
    reject,
  );
  const recent = { startDate, endDate: today, timeZone };
  const daily = useRpc(client.getDailyRevenue, recent, asOf, reject);
  const period = periodIn(address.period, today);
  const breakdown = useRpc(client.getServerBreakdown, { ...period, timeZone }, asOf, reject);
  const calls = [overview, payouts, daily, breakdown];
  const zoneProblem = calls.find(({ problem }) => problem?.kind === "zone")?.problem;
  useEffect(() => {
    if (zoneProblem) refuse(zoneProblem);
  }, [zoneProblem, refuse]);
  useEffect(() => {
    if (address.zone !== timeZone) go({ zone: timeZone }, true);
  }, [address.zone, timeZone, go]);
  // A new day of the service is one for all figures.
  const isNewDay = calls.some((call) => call.asOf && dayAt(call.asOf, timeZone) > today);
  useEffect(() => {
    if (isNewDay) overview.reload();
  }, [isNewDay, overview.reload]);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (entered) heading.current?.focus();
  }, [entered]);
  const provider = overview.data?.providerName ?? "";
  const page = { client, timeZone, provider, asOf, today, address, go, reject };
  const opened = daysIn(address.charges);
  const month = monthsUpTo(today).find((month) => month === address.statement);
  const total = opened && grossOf(opened, address.server, period, breakdown.data, daily.data?.days);
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
          <p class="quiet small" role="status">
            {overview.loading
              ? "Loading …"
              : asOf && `As of ${instant(asOf, timeZone)}, ${timeZone}`}
          </p>
          <p class="quiet small">
            US dollars · Key <code>…{apiKey.slice(-4)}</code> · <a href="docs">API reference</a>
          </p>
          {problem && (
            <p class="quiet small" role="status">
              {problem.title}. {problem.advice}
            </p>
          )}
          <div class="buttons">
            {choices.length > 1 && (
              <Choice
                label="Time zone"
                options={choices.map((id) => ({ id, title: id }))}
                chosen={timeZone}
                choose={(zone) => go({ zone })}
              />
            )}
            <button type="button" onClick={overview.reload}>
              Refresh
            </button>
            <button type="button" onClick={forget}>
              Forget key
            </button>
          </div>
        </div>
      </header>
      <div class="stays">
        <nav aria-label="Sections">
          {opened || month ? (
            <a href={linkTo(FIGURES)}>← All figures</a>
          ) : (
            SECTIONS.map((title) => (
              <a key={title} href={`#${title.toLowerCase()}`}>
                {title}
              </a>
            ))
          )}
        </nav>
        <ProblemNotice calls={calls} />
      </div>
      <main class="page" id="figures" tabIndex={-1}>
        {opened ? (
          <Charges key={writeAddress(address)} {...page} period={opened} total={total} />
        ) : month ? (
          <Statement {...page} month={month} days={daily.data?.days} payouts={payouts.data?.rows} />
        ) : (
          <>
            <Payouts {...page} call={payouts} balance={overview.data?.summary?.availableBalance} />
            <Earnings {...page} call={daily} />
            <Servers {...page} call={breakdown} period={period} />
          </>
        )}
      </main>
    </>
  );
}
