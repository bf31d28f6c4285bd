/** The bars of the months. They show proportions; the digits are in the tooltip and in the table. */
import { BarController, BarElement, CategoryScale, Chart, LinearScale, Tooltip } from "chart.js";
import { decimal, type MonthlyEarnings } from "../../../clients/typescript/src/index.ts";
import { usd } from "../amount/decimal-text.ts";

Chart.register(BarController, BarElement, CategoryScale, LinearScale, Tooltip);

const compact = new Intl.NumberFormat("en-US", { notation: "compact" });

/** Draws the months, oldest first, in the colours of the page. Returns how to remove them. */
export function drawMonths(
  canvas: HTMLCanvasElement,
  months: readonly MonthlyEarnings[],
): () => void {
  const style = getComputedStyle(canvas);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const last = months.length - 1;
  const chart = new Chart(canvas, {
    type: "bar",
    data: {
      labels: months.map(({ monthAbbreviation }) => monthAbbreviation),
      datasets: [
        {
          data: months.map(({ amount }) => Number(decimal(amount))),
          // The current month is not over.
          backgroundColor: months.map((_, index) => color(index === last ? "--soft" : "--accent")),
          borderRadius: 4,
          maxBarThickness: 44,
        },
      ],
    },
    options: {
      animation: false,
      maintainAspectRatio: false,
      font: { family: style.fontFamily, size: 12 },
      interaction: { mode: "index", intersect: false },
      scales: {
        x: {
          grid: { display: false },
          border: { display: false },
          ticks: { color: color("--quiet"), maxRotation: 0 },
        },
        y: {
          border: { display: false },
          grid: { color: color("--line") },
          ticks: {
            color: color("--quiet"),
            maxTicksLimit: 5,
            callback: (value) => `$${compact.format(Number(value))}`,
          },
        },
      },
      plugins: {
        tooltip: {
          displayColors: false,
          callbacks: {
            title: ([item]) => months[item?.dataIndex ?? 0]?.month ?? "",
            label: ({ dataIndex }) => usd(decimal(months[dataIndex]?.amount)),
          },
        },
      },
    },
  });
  return () => chart.destroy();
}
