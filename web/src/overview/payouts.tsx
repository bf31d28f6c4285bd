/** The latest payouts. */
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Payout } from "../../../clients/typescript/src/index.ts";
import { Amount } from "../amount/amount.tsx";
import { instant } from "../instant.ts";
import { StatusBadge } from "../status-badge.tsx";

/** Shows the payouts, latest first. */
export function Payouts({ payouts }: { payouts: readonly Payout[] }) {
  return (
    <section class="card" aria-labelledby="payouts-title">
      <h3 id="payouts-title">Latest payouts</h3>
      {payouts.length === 0 && <p class="empty">No payouts yet.</p>}
      <ul class="payouts">
        {payouts.map(({ payoutId, date, amount, method, status }) => (
          <li key={payoutId}>
            <div>
              <span>{method}</span>
              <span class="quiet small">{date && instant(timestampDate(date))}</span>
              <code class="quiet small">{payoutId}</code>
            </div>
            <div class="numeric">
              <Amount value={amount} currency />
              <StatusBadge status={status} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
