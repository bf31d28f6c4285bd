/** Earnings of the last twelve months: as bars, and as a table with the digits. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { decimal, type MonthlyEarnings } from "../../../clients/typescript/src/index.ts";
import { Amount } from "../amount/amount.tsx";
import { scaled } from "../amount/decimal-text.ts";
import { drawMonths } from "./months-chart.ts";

/** Shows the months. The service sends the most recent one first. */
export function Months({ months }: { months: readonly MonthlyEarnings[] }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const dark = useDark();
  const oldestFirst = useMemo(() => months.toReversed(), [months]);
  const isEmpty = months.every(({ amount }) => scaled(decimal(amount)) === 0n);
  useEffect(
    () => (canvas.current ? drawMonths(canvas.current, oldestFirst) : undefined),
    // The colours are those of the scheme at the time.
    [oldestFirst, dark],
  );
  return (
    <section class="card" aria-labelledby="months-title">
      <h3 id="months-title">Earnings by month</h3>
      {isEmpty ? (
        <p class="empty">No earnings in these 12 months.</p>
      ) : (
        <>
          <p class="quiet small">After the platform fee. The last bar is this month so far.</p>
          <div class="chart">
            <canvas
              ref={canvas}
              role="img"
              aria-label="Bar chart of the earnings of each month. The table below has the amounts."
            />
          </div>
        </>
      )}
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

/** Whether the scheme is dark, also after it changes. */
function useDark(): boolean {
  const query = useMemo(() => matchMedia("(prefers-color-scheme: dark)"), []);
  const [dark, setDark] = useState(query.matches);
  useEffect(() => {
    const change = () => setDark(query.matches);
    query.addEventListener("change", change);
    return () => query.removeEventListener("change", change);
  }, [query]);
  return dark;
}
