/** The payouts: the latest, and all of them if somebody asks. */
import { timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Payout } from "../../../clients/typescript/src/index.ts";
import { progress } from "../call/use-call.ts";
import { dayAt, longDay } from "../instant.ts";
import { StatusBadge } from "../status-badge.tsx";
import { type Column, decimals } from "../table/columns.tsx";
import { DataTable, PAGE } from "../table/data-table.tsx";
import type { PayoutPages } from "./payout-pages.ts";

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

interface PayoutsProps {
  readonly pages: PayoutPages;
  readonly timeZone: string;
}

/** Shows the payouts, latest first. */
export function Payouts({ pages, timeZone }: PayoutsProps) {
  const { payouts, isAll, more, call } = pages;
  const title = isAll ? "Payouts" : "Latest payouts";
  return (
    <section class="card" id="payouts" aria-labelledby="payouts-title">
      <h3 id="payouts-title">{title}</h3>
      <DataTable
        label={title}
        empty="No payouts yet."
        columns={COLUMNS}
        main="Amount"
        order="Date"
        rows={payouts}
        few={isAll ? PAGE : 5}
        keyOf={({ payoutId }) => payoutId}
        heading={({ date }) => date && longDay(dayAt(timestampDate(date), timeZone))}
      />
      {more && (
        <button type="button" onClick={more}>
          {isAll ? "Load older payouts" : "Show all payouts"}
        </button>
      )}
      {call && (
        <p class="quiet small" role="status">
          {call.loading && progress(call)}
        </p>
      )}
    </section>
  );
}
