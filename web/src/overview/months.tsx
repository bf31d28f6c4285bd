/** Earnings of the last twelve months: as bars, and as a table with the digits. */
import { useMemo } from "preact/hooks";
import type { MonthlyEarnings } from "../../../clients/typescript/src/index.ts";
import { Amount } from "../amount/amount.tsx";
import { BarChart } from "../chart/bar-chart.tsx";

/** Shows the months. The service sends the most recent one first. */
export function Months({ months }: { months: readonly MonthlyEarnings[] }) {
  const bars = useMemo(
    () =>
      months
        .map(({ month, monthAbbreviation, amount }) => ({
          label: monthAbbreviation,
          title: month,
          amount,
        }))
        .reverse(),
    [months],
  );
  return (
    <section class="card" aria-labelledby="months-title">
      <h3 id="months-title">Earnings by month</h3>
      <BarChart
        bars={bars}
        unit="Month"
        note="After the platform fee. The last bar is this month so far."
        empty="No earnings in these 12 months."
      />
      <details open={matchMedia("(min-width: 801px)").matches}>
        <summary>Amounts as a table</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">Month</th>
              <th scope="col" class="numeric">
                Earnings
              </th>
            </tr>
          </thead>
          <tbody>
            {months.map(({ month, amount }) => (
              <tr key={month}>
                <th scope="row">{month}</th>
                <td class="numeric">
                  <Amount value={amount} currency />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </section>
  );
}
