/** The most important figures, each on a card. */
import type { ComponentChildren } from "preact";
import type { Decimal } from "../../clients/typescript/src/index.ts";
import { Amount, Count } from "./amount/amount.tsx";

/** A figure: US dollars, hours, or a number of things, and what else is said of it. */
interface Figure {
  readonly title: string;
  readonly value: Decimal | number | undefined;
  /** Whether a decimal is US dollars; it is by default. */
  readonly currency?: boolean;
  readonly note?: ComponentChildren;
}

/** Shows the figures. */
export function FigureCards({ figures }: { figures: readonly Figure[] }) {
  return (
    <dl class="cards">
      {figures.map(({ title, value, currency = true, note }) => (
        <div class="card" key={title}>
          <dt>{title}</dt>
          <dd>
            {typeof value === "number" ? (
              <Count value={value} />
            ) : (
              <Amount value={value} currency={currency} />
            )}
          </dd>
          {note && <dd class="quiet small">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}
