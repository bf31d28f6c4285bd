/** The totals of a provider. */
import type { Summary } from "../../../clients/typescript/src/index.ts";
import { Amount } from "../amount/amount.tsx";
import { FigureCard } from "../figure-card.tsx";

/** Shows balance, month and year to date. */
export function SummaryCards({ summary }: { summary: Summary | undefined }) {
  return (
    <dl class="cards">
      <FigureCard title="Available balance">
        <Amount value={summary?.availableBalance} currency />
      </FigureCard>
      <FigureCard title="Earnings this month">
        <Amount value={summary?.currentMonthEarnings} currency />
      </FigureCard>
      <FigureCard title="Earnings this year">
        <Amount value={summary?.totalEarningsYtd} currency />
      </FigureCard>
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
