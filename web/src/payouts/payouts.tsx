/** Am I paid? The balance, what is under way and what was paid; then the payouts. */
import { useMemo } from "preact/hooks";
import type { Decimal, Payout } from "../../../clients/typescript/src/index.ts";
import { dollars } from "../amount/amount.tsx";
import { totalOf } from "../amount/sums.ts";
import { Notice } from "../call/notice.tsx";
import { Section } from "../call/section.tsx";
import type { Pages } from "../call/use-pages.ts";
import { Export } from "../export/export.tsx";
import { FigureCards } from "../figure-cards.tsx";
import { longDay, longMonth } from "../instant.ts";
import type { Page } from "../page.ts";
import { Status } from "../status.tsx";
import { type Column, numbers, texts } from "../table/columns.tsx";
import { DataTable } from "../table/data-table.tsx";
import { dayOf, paidAt, type Settlement, settlementOf } from "./settlement.ts";

const columnsOf = (timeZone: string): readonly Column<Payout>[] => [
  {
    title: "Date",
    value: paidAt,
    cell: (payout) => longDay(dayOf(payout, timeZone)),
  },
  numbers("Amount", ({ amount }) => amount, { rank: "main" }),
  texts("Method", ({ method }) => method),
  texts(
    "Status",
    ({ status }) => status,
    ({ status }) => <Status status={status} />,
  ),
  { ...texts("Id", ({ payoutId }) => payoutId), rank: "wide" },
];

interface PayoutsProps extends Page {
  readonly balance: Decimal | undefined;
  readonly call: Pages<Payout>;
}

/** Shows the section. */
export function Payouts({ balance, call, today, timeZone, provider }: PayoutsProps) {
  const { asOf } = call;
  const payouts = call.data?.rows;
  const answer = payouts && { payouts };
  const settlement = payouts && settlementOf(payouts, today, timeZone);
  return (
    <Section
      id="payouts"
      title="Payouts"
      call={call}
      head={<Export title="Payouts" method="listPayouts" {...{ answer, provider, asOf }} />}
    >
      <Failed payouts={settlement?.failed ?? []} timeZone={timeZone} />
      <FigureCards figures={figuresOf(balance, settlement, today, timeZone)} />
      <section class="card" aria-label="Latest payouts">
        <PayoutTable payouts={payouts} timeZone={timeZone} few={5} />
        {call.more && (
          <button type="button" onClick={call.more}>
            Load older payouts
          </button>
        )}
      </section>
    </Section>
  );
}

/** A line that tells of payouts that failed. In the list they are easily overlooked, or folded in. */
function Failed({ payouts, timeZone }: { payouts: readonly Payout[]; timeZone: string }) {
  const { length } = payouts;
  if (length === 0) return null;
  const title = length === 1 ? "A recent payout failed" : `${length} recent payouts failed`;
  const list = payouts.map((payout) => {
    return `${dollars(payout.amount)} on ${longDay(dayOf(payout, timeZone))} (${payout.method})`;
  });
  return <Notice kind="payouts" title={title} advice={list.join(", ")} />;
}

interface PayoutTableProps {
  readonly payouts: readonly Payout[] | undefined;
  readonly timeZone: string;
  readonly few: number;
}

/** Shows payouts, latest first. */
export function PayoutTable({ payouts, timeZone, few }: PayoutTableProps) {
  const columns = useMemo(() => columnsOf(timeZone), [timeZone]);
  const shared = { label: "Payouts", empty: "No payouts.", columns, order: "Date" };
  return <DataTable {...shared} rows={payouts} few={few} />;
}

function figuresOf(
  balance: Decimal | undefined,
  settlement: Settlement | undefined,
  today: string,
  timeZone: string,
) {
  const { paidThisMonth, paidThisYear, pending = [], unknown = [] } = settlement ?? {};
  const { length } = pending;
  const next = pending.at(-1);
  const when = next ? `${longDay(dayOf(next, timeZone))}, ${next.method}` : "none is under way";
  return [
    { title: "Available balance", value: balance },
    {
      title: length > 1 ? `${length} pending payouts` : "Pending payout",
      value: settlement && totalOf(pending),
      note: length > 1 ? `the first: ${when}` : when,
    },
    { title: `Paid in ${longMonth(today.slice(0, 7))}`, value: paidThisMonth },
    {
      title: `Paid in ${today.slice(0, 4)}`,
      value: paidThisYear,
      note: unknown.length ? `without ${dollars(totalOf(unknown))} of another status` : "",
    },
  ];
}
