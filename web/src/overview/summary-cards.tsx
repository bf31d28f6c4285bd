/** The totals of a provider. */
import type { Decimal, Summary } from "../../../clients/typescript/src/index.ts";
import { Amount } from "../amount/amount.tsx";

/** Shows balance, month and year to date. */
export function SummaryCards({ summary }: { summary: Summary | undefined }) {
  return (
    <dl class="cards">
      <Card title="Available balance" value={summary?.availableBalance} />
      <Card title="Earnings this month" value={summary?.currentMonthEarnings} />
      <Card title="Earnings this year" value={summary?.totalEarningsYtd} />
      <div class="card">
        <dt>Gross revenue this year</dt>
        <dd>
          <Amount value={summary?.grossRevenueYtd} currency />
        </dd>
        <dd class="quiet small fee">
          of which platform fees <Amount value={summary?.platformFeesYtd} currency />
        </dd>
      </div>
    </dl>
  );
}

function Card({ title, value }: { title: string; value: Decimal | undefined }) {
  return (
    <div class="card">
      <dt>{title}</dt>
      <dd>
        <Amount value={value} currency />
      </dd>
    </div>
  );
}
