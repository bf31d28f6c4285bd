/** The latest payouts. */
import { timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Payout } from "../../../clients/typescript/src/index.ts";
import { longDay } from "../instant.ts";
import { StatusBadge } from "../status-badge.tsx";
import { type Column, decimals } from "../table/columns.tsx";
import { DataTable } from "../table/data-table.tsx";

const COLUMNS: readonly Column<Payout>[] = [
  { title: "Date", value: ({ date }) => (date ? timestampMs(date) : 0) },
  decimals("Amount", ({ amount }) => amount),
  { title: "Method", value: ({ method }) => method, cell: ({ method }) => method },
  {
    title: "Status",
    value: ({ status }) => status,
    cell: ({ status }) => <StatusBadge status={status} />,
  },
  {
    title: "Id",
    value: ({ payoutId }) => payoutId,
    cell: ({ payoutId }) => <code>{payoutId}</code>,
  },
];

/** Shows the payouts, latest first. */
export function Payouts({ payouts }: { payouts: readonly Payout[] }) {
  return (
    <section class="card" id="payouts" aria-labelledby="payouts-title">
      <h3 id="payouts-title">Latest payouts</h3>
      <DataTable
        label="Latest payouts"
        empty="No payouts yet."
        columns={COLUMNS}
        main="Amount"
        order="Date"
        rows={payouts}
        few={5}
        keyOf={({ payoutId }) => payoutId}
        heading={({ date }) => date && longDay(timestampDate(date))}
      />
    </section>
  );
}
