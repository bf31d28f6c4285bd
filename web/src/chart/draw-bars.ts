/** Bars on a canvas. They show proportions; the digits are in texts. */
import { BarController, BarElement, CategoryScale, Chart, LinearScale, Tooltip } from "chart.js";
import { type Decimal, decimal } from "../../../clients/typescript/src/index.ts";
import { scaled, usd } from "../amount/decimal-text.ts";

Chart.register(BarController, BarElement, CategoryScale, LinearScale, Tooltip);

/** The earnings of a month or a day. */
export interface Bar {
  /** What is below the bar: `Nov`. */
  readonly label: string;
  /** The month or the day in full: `November 2026`. */
  readonly title: string;
  /** USD. */
  readonly amount: Decimal | undefined;
}

/** Bars that were drawn. */
export interface DrawnBars {
  /** Marks a bar, with its amount; without an index none. */
  mark(index?: number): void;
  remove(): void;
}

const axis = new Intl.NumberFormat("en-US", {
  notation: "compact",
  style: "currency",
  currency: "USD",
});

/**
 * Draws the bars, oldest first, in the colours of the page.
 *
 * @param onPointed is told of the bar under the pointer, which is marked
 */
export function drawBars(
  canvas: HTMLCanvasElement,
  bars: readonly Bar[],
  onPointed: (index: number) => void,
): DrawnBars {
  const style = getComputedStyle(canvas);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const chart = new Chart(canvas, {
    type: "bar",
    data: {
      labels: bars.map(({ label }) => label),
      datasets: [
        {
          data: bars.map(({ amount }) => Number(decimal(amount))),
          backgroundColor: bars.map(({ amount }, index) => {
            const value = scaled(decimal(amount));
            if (value === 0n) return "transparent";
            if (value < 0n) return color("--bad");
            // The last month or day is not over.
            return color(index === bars.length - 1 ? "--soft" : "--accent");
          }),
          hoverBackgroundColor: color("--text"),
          maxBarThickness: 44,
          // Many bars are thin: without space between them, so that their colours are clear.
          ...(bars.length > 31
            ? { categoryPercentage: 1, barPercentage: 1 }
            : { categoryPercentage: 0.8, borderRadius: 4 }),
          // The smallest amount is visible, on its side of zero.
          minBarLength: 2,
        },
      ],
    },
    options: {
      animation: false,
      maintainAspectRatio: false,
      font: { family: style.fontFamily, size: 12 },
      interaction: { mode: "index", intersect: false },
      onHover: (_, [element]) => element && onPointed(element.index),
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
            callback: (value) => axis.format(Number(value)),
          },
        },
      },
      plugins: {
        tooltip: {
          displayColors: false,
          callbacks: {
            title: ([item]) => bars[item?.dataIndex ?? 0]?.title ?? "",
            label: ({ dataIndex }) => usd(decimal(bars[dataIndex]?.amount)),
          },
        },
      },
    },
  });
  return {
    mark(index) {
      const marked = index === undefined ? [] : [{ datasetIndex: 0, index }];
      chart.setActiveElements(marked);
      chart.tooltip?.setActiveElements(marked, { x: 0, y: 0 });
      chart.update();
    },
    remove: () => chart.destroy(),
  };
}
