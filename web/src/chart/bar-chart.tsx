/** Earnings as bars, each with its amount for the pointer and for the keyboard. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { decimal } from "../../../clients/typescript/src/index.ts";
import { Amount } from "../amount/amount.tsx";
import { scaled, usd } from "../amount/decimal-text.ts";
import { type Bar, type DrawnBars, drawBars } from "./draw-bars.ts";

interface BarChartProps {
  /** The bars, memoized, oldest first. There is at least one. */
  readonly bars: readonly Bar[];
  /** What a bar is: `Month`. */
  readonly unit: string;
  /** What to know about the bars. */
  readonly note: string;
  /** What to say if every amount is zero. */
  readonly empty: string;
}

/** Shows the bars, or that there are none. */
export function BarChart({ bars, unit, note, empty }: BarChartProps) {
  return bars.every(({ amount }) => scaled(decimal(amount)) === 0n) ? (
    <p class="empty">{empty}</p>
  ) : (
    <>
      <p class="quiet small">{note}</p>
      <Bars bars={bars} unit={unit} />
    </>
  );
}

function Bars({ bars, unit }: Pick<BarChartProps, "bars" | "unit">) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawn = useRef<DrawnBars>(undefined);
  const dark = useDark();
  const last = bars.length - 1;
  const [chosen, setChosen] = useState(last);
  useEffect(() => {
    if (!canvas.current) return;
    setChosen(last);
    drawn.current = drawBars(canvas.current, bars, setChosen);
    return drawn.current.remove;
    // The colours are those of the scheme at the time.
  }, [bars, dark]);
  const choose = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
    setChosen(currentTarget.valueAsNumber);
    drawn.current?.mark(currentTarget.valueAsNumber);
  };
  const { title = "", amount } = bars[chosen] ?? {};
  return (
    <>
      <div class="chart">
        <canvas
          ref={canvas}
          role="img"
          aria-label={`Bar chart of the earnings of each ${unit.toLowerCase()}. The table below has the amounts.`}
        />
      </div>
      {/* The arrow keys, or a finger where bars are thinner than it, go from bar to bar. */}
      <div class="chosen">
        <input
          type="range"
          aria-label={unit}
          aria-valuetext={`${title}: ${usd(decimal(amount))}`}
          min={0}
          max={last}
          value={chosen}
          onInput={choose}
          onFocus={choose}
          onBlur={() => drawn.current?.mark()}
        />
        <p class="small">
          {title}{" "}
          <strong>
            <Amount value={amount} currency />
          </strong>
        </p>
      </div>
    </>
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
