/** Earnings of the last twelve months: as bars, and as a table with the digits. */
import { useMemo } from "preact/hooks";
import type { MonthlyEarnings } from "../../../clients/typescript/src/index.ts";
import { type Bar, BarChart } from "../chart/bar-chart.tsx";
import { type Column, decimals } from "../table/columns.tsx";
import { DataTable } from "../table/data-table.tsx";

const columnsOf = (bars: readonly Bar[]): readonly Column<Bar>[] => [
  { title: "Month", value: (bar) => bars.indexOf(bar) },
  decimals("Earnings", ({ amount }) => amount),
];

/** Shows the months. The service sends the most recent one first. */
export function Months({ months }: { months: readonly MonthlyEarnings[] }) {
  const bars = useMemo(
    () =>
      months
        .map(({ month, monthAbbreviation: label, amount }, index) => {
          return { label, title: `${label} ${month.slice(-4)}`, amount, partial: index === 0 };
        })
        .reverse(),
    [months],
  );
  const columns = useMemo(() => columnsOf(bars), [bars]);
  return (
    <section class="card" aria-labelledby="months-title">
      <h3 id="months-title">Earnings by month, after fees</h3>
      <BarChart title="Earnings by month" bars={bars} empty="No earnings in these 12 months.">
        <DataTable
          label="Earnings by month"
          columns={columns}
          main="Earnings"
          order="Month"
          rows={bars}
          few={12}
          keyOf={({ title }) => title}
          heading={({ title, partial }) => title + (partial ? " so far" : "")}
        />
      </BarChart>
    </section>
  );
}
