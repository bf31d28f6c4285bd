/** Earnings as bars. Pointer, finger and arrow keys read them, one at a time, in one place. */
import type { ComponentChildren, TargetedKeyboardEvent, TargetedPointerEvent } from "preact";
import { useMemo, useState } from "preact/hooks";
import { type Decimal, decimal } from "../../../clients/typescript/src/index.ts";
import { Amount } from "../amount/amount.tsx";
import { usd } from "../amount/decimal-text.ts";
import { scaleOf } from "./scale.ts";

/** The earnings of a month or a day. */
export interface Bar {
  /** What is below the bar: `Nov`. */
  readonly label: string;
  /** The month or the day in full: `Nov 2026`. */
  readonly title: string;
  /** USD. */
  readonly amount: Decimal | undefined;
  /** Whether the month or the day is not over yet. */
  readonly partial: boolean;
}

interface BarChartProps {
  readonly title: string;
  /** The bars, memoized, oldest first. There is at least one. */
  readonly bars: readonly Bar[];
  /** What to say if every amount is zero. */
  readonly empty: string;
  /** The same as a table. */
  readonly children: ComponentChildren;
}

/** How many characters are below the bars; on a narrow screen half of them. */
const CHARACTERS = 48;

const axis = new Intl.NumberFormat("en-US", {
  notation: "compact",
  style: "currency",
  currency: "USD",
});

const percent = (part: number) => `${(part * 100).toFixed(3)}%`;

/** Shows the bars and a table that opens, or that there are none. */
export function BarChart({ title, bars, empty, children }: BarChartProps) {
  const last = bars.length - 1;
  const [read, setRead] = useState<number>();
  // There may be fewer bars than before.
  const at = Math.min(read ?? last, last);
  const drawn = useMemo(() => draw(bars), [bars]);
  const point = ({ currentTarget, clientX }: TargetedPointerEvent<HTMLDivElement>) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    const nth = Math.floor(((clientX - left) / width) * bars.length);
    setRead(Math.max(0, Math.min(nth, last)));
  };
  const press = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    const to = targetOf(event.key, at, last);
    if (to === undefined) return;
    event.preventDefault();
    setRead(Math.max(0, Math.min(to, last)));
  };
  if (bars.every(({ amount }) => Number(decimal(amount)) === 0)) {
    return <p class="empty">{empty}</p>;
  }
  const { title: name = "", amount, partial = false } = bars[at] ?? {};
  const what = partial ? `${name} so far` : name;
  return (
    <>
      <p class="reading">
        <span class="quiet">{what}</span>{" "}
        <strong>
          <Amount value={amount} currency />
        </strong>
      </p>
      <div class="chart">
        {drawn.lines}
        <div
          class="bars"
          role="slider"
          tabIndex={0}
          aria-label={title}
          aria-valuemin={1}
          aria-valuemax={bars.length}
          aria-valuenow={at + 1}
          aria-valuetext={`${what}: ${usd(decimal(amount))}`}
          onPointerDown={point}
          onPointerMove={point}
          onKeyDown={press}
        >
          {read !== undefined && (
            <span
              class="mark"
              style={{ left: percent(at / bars.length), width: percent(1 / bars.length) }}
            />
          )}
          {drawn.bars}
        </div>
      </div>
      <details>
        <summary>Amounts as a table</summary>
        {children}
      </details>
    </>
  );
}

/** The bar that a key leads to; undefined if it leads to none. */
function targetOf(key: string, at: number, last: number): number | undefined {
  if (key === "Home") return 0;
  if (key === "End") return last;
  if (["ArrowLeft", "ArrowDown"].includes(key)) return at - 1;
  return ["ArrowRight", "ArrowUp"].includes(key) ? at + 1 : undefined;
}

function draw(bars: readonly Bar[]) {
  const values = bars.map(({ amount }) => Number(decimal(amount)));
  const ticks = scaleOf(values);
  const low = ticks[0] ?? 0;
  const range = (ticks.at(-1) ?? 0) - low;
  const longest = Math.max(...bars.map(({ label }) => label.length));
  const every = Math.ceil((bars.length * longest) / CHARACTERS);
  const bar = ({ label, partial }: Bar, index: number) => {
    const value = values[index] ?? 0;
    const edge = value < 0 ? { top: percent(1 + low / range) } : { bottom: percent(-low / range) };
    const tone = value < 0 ? "fill negative" : partial ? "fill partial" : "fill";
    // Counted from the latest, which has one.
    const nth = (bars.length - 1 - index) / every;
    return (
      <span class="bar" key={index}>
        {value !== 0 && (
          <span class={tone} style={{ ...edge, height: percent(Math.abs(value) / range) }} />
        )}
        {Number.isInteger(nth) && <span class={nth % 2 ? "label minor" : "label"}>{label}</span>}
      </span>
    );
  };
  return {
    lines: ticks.map((tick) => (
      <span class="line" key={tick} style={{ bottom: percent((tick - low) / range) }}>
        {axis.format(tick)}
      </span>
    )),
    bars: bars.map(bar),
  };
}
