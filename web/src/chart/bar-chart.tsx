/** Earnings as bars. Pointer and finger read them, one at a time, in one place; the table is for everybody else. */
import type { ComponentChildren, TargetedPointerEvent } from "preact";
import { useMemo, useState } from "preact/hooks";
import { chargesOf } from "../address.ts";
import { Amount } from "../amount/amount.tsx";
import type { Span } from "../amount/sums.ts";
import { linked } from "../figure-cards.tsx";
import { scaleOf } from "./scale.ts";

interface BarChartProps {
  /** The days or months, memoized, oldest first; undefined while they are loaded. There is at least one. */
  readonly spans: readonly Span[] | undefined;
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
export function BarChart({ spans, children }: BarChartProps) {
  const [read, setRead] = useState<number>();
  const drawn = useMemo(() => draw(spans ?? []), [spans]);
  // There may be fewer bars than before.
  const span = spans?.[read ?? -1] ?? spans?.at(-1);
  if (spans === undefined || span === undefined) return <div class="chart blank" />;
  if (spans.every(({ earnings }) => earnings === 0n)) return <p class="empty">No earnings.</p>;
  const point = ({ currentTarget, clientX }: TargetedPointerEvent<HTMLDivElement>) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    const nth = Math.floor(((clientX - left) / width) * spans.length);
    setRead(Math.max(0, Math.min(nth, spans.length - 1)));
  };
  return (
    <>
      <p class="reading">
        <span class="quiet">{span.title}</span>{" "}
        <strong>{linked(chargesOf(span), <Amount value={span.earnings} />)}</strong>
      </p>
      <div class="chart" aria-hidden="true">
        {drawn.lines}
        <div class="bars" onPointerDown={point} onPointerMove={point}>
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

function draw(spans: readonly Span[]) {
  const values = spans.map(({ earnings }) => Number(earnings) / 100);
  const ticks = scaleOf(values);
  const low = ticks[0] ?? 0;
  const range = (ticks.at(-1) ?? 0) - low;
  const longest = Math.max(...spans.map(({ label }) => label.length));
  const every = Math.ceil((spans.length * longest) / CHARACTERS);
  const bar = ({ label, partial }: Span, index: number) => {
    const value = values[index] ?? 0;
    const edge = value < 0 ? { top: percent(1 + low / range) } : { bottom: percent(-low / range) };
    const tone = value < 0 ? "fill negative" : partial ? "fill partial" : "fill";
    // Counted from the latest, which has one.
    const nth = (spans.length - 1 - index) / every;
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
        <span>{axis.format(tick)}</span>
      </span>
    )),
    bars: spans.map(bar),
  };
}
