/** A statement for a month, to print or to save as PDF. Each line names the fields of the API that give it. */
import { useEffect } from "preact/hooks";
import {
  type DailyRevenue,
  type Payout,
  RevenueService,
} from "../../../clients/typescript/src/index.ts";
import { Amount } from "../amount/amount.tsx";
import { totalOf, within } from "../amount/sums.ts";
import { ProblemNotice } from "../call/problem-notice.tsx";
import { Section } from "../call/section.tsx";
import { useRpc } from "../call/use-call.ts";
import { targetOf } from "../export/curl-command.ts";
import { safeName } from "../export/file-name.ts";
import { instant, longMonth } from "../instant.ts";
import { Name } from "../name.tsx";
import type { Page } from "../page.ts";
import { PayoutTable } from "../payouts/payouts.tsx";
import { paidIn } from "../payouts/settlement.ts";
import { monthPeriod, monthsUpTo } from "../period/period.ts";
import { type Column, names, numbers } from "../table/columns.tsx";
import { DataTable } from "../table/data-table.tsx";
import { type StatementLine, statementOf } from "./statement.ts";

const COLUMNS: readonly Column<StatementLine>[] = [
  names("Server", ({ serverName, serverId }) => [serverName, serverId]),
  numbers("Gross", ({ gross }) => gross),
  numbers("Fee", ({ fee }) => fee),
  numbers("Earnings", ({ earnings }) => earnings, { rank: "main" }),
];

const { getServerBreakdown, listPayouts } = RevenueService.method;

/** Rounding may come to nothing; the sum is there all the same. */
const isNeeded = ({ serverName, gross, fee }: StatementLine) =>
  serverName === "Sum" || gross !== 0n || fee !== 0n;

interface StatementProps extends Page {
  /** `2026-11` */
  readonly month: string;
  readonly days: readonly DailyRevenue[] | undefined;
  readonly payouts: readonly Payout[] | undefined;
}

/** Shows the statement. */
export function Statement(props: StatementProps) {
  const { client, month, days, payouts, asOf, today, timeZone, provider, reject, go } = props;
  const period = monthPeriod(month);
  const call = useRpc(client.getServerBreakdown, { ...period, timeZone }, asOf, reject);
  const figures = call.data && days && statementOf(call.data, within(days, period));
  const { sum, rest, refunds, faults } = figures ?? {};
  const paid = payouts && paidIn(month, payouts, timeZone);
  const title = `Statement for ${longMonth(month)}`;
  useEffect(() => {
    // The name of the PDF.
    document.title = [title, safeName(provider)].filter(Boolean).join(" ");
    return () => {
      document.title = "Revenue";
    };
  }, [title, provider]);
  const lines = [
    ["Charged", "totalRevenue − refunds ¹", sum && sum.gross - (refunds ?? 0n)],
    ["Refunds", "refunds ¹", refunds],
    ["Gross revenue", "totalRevenue ¹", sum?.gross],
    ["Platform fee", "platformFees ¹", sum && -sum.fee],
    ["Earnings", "earnings ¹", sum?.earnings],
    ["Paid out in this month", "payouts that are Completed ²", paid && totalOf(paid)],
  ] as const;
  return (
    <Section
      id="statement"
      title={title + (period.endDate >= today ? " so far" : "")}
      call={call}
      about={call.asOf && `as of ${instant(call.asOf, timeZone)}, ${timeZone}, US dollars`}
    >
      <ProblemNotice calls={[call]} />
      {provider && (
        <p>
          <Name name={provider} id="" />
        </p>
      )}
      <div class="buttons">
        <select
          aria-label="Month"
          value={month}
          onChange={({ currentTarget }) => go({ statement: currentTarget.value })}
        >
          {monthsUpTo(today).map((month) => (
            <option key={month} value={month}>
              {longMonth(month)}
            </option>
          ))}
        </select>
        <button type="button" onClick={() => print()}>
          Print
        </button>
      </div>
      <section class="card" aria-label="Summary">
        <table>
          <tbody>
            {lines.map(([title, source, value]) => (
              <tr key={title}>
                <th scope="row">
                  {title} <code class="quiet">{source}</code>
                </th>
                <td class="numeric">
                  <Amount value={value} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <section class="card" aria-labelledby="by-server">
        <h3 id="by-server">Earnings by server ¹</h3>
        <DataTable
          label="Earnings by server"
          empty="No server had revenue."
          columns={COLUMNS}
          order="Earnings"
          rows={figures?.servers}
          few={50}
          foot={[rest, sum].filter((line) => line !== undefined).filter(isNeeded)}
        />
      </section>
      <section class="card" aria-labelledby="paid">
        <h3 id="paid">Payouts ²</h3>
        <PayoutTable payouts={paid} timeZone={timeZone} few={50} />
      </section>
      {faults && (
        <p class="card" role="status">
          {faults.length === 0
            ? "It adds up: charged and refunds are gross revenue; fee and earnings are, too, in all and of each server; the servers come to the sum, and so do the days of the month, in another call."
            : `It does not add up: ${faults.join("; ")}. Refresh.`}
        </p>
      )}
      <p class="quiet small">
        ¹ <code>GET {targetOf(getServerBreakdown, { ...period, timeZone })}</code>
        <br />² <code>GET {targetOf(listPayouts, {})}</code>
      </p>
    </Section>
  );
}
