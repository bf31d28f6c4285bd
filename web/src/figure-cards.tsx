/** The most important figures, each on a card. */
import type { ComponentChildren } from "preact";
import { Amount, type Value } from "./amount/amount.tsx";

/** A figure, and what else is said of it. */
interface Figure {
  readonly title: string;
  readonly value: Value;
  /** Whether a decimal is no US dollars. */
  readonly plain?: boolean;
  /** Where its charges are. */
  readonly href?: string | undefined;
  readonly note?: string | undefined;
}

/** Shows the figures. */
export function FigureCards({ figures }: { figures: readonly Figure[] }) {
  return (
    <dl class="cards">
      {figures.map(({ title, value, plain, href, note }) => (
        <div class="card" key={title}>
          <dt>{value === undefined ? <span class="blank" /> : title}</dt>
          <dd>{linked(href, <Amount value={value} plain={plain} />)}</dd>
          {value !== undefined && note && <dd class="quiet small">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}

/** A number that leads to its charges, if there is a way. */
export function linked(href: string | undefined, number: ComponentChildren) {
  return href === undefined ? number : <a href={href}>{number}</a>;
}
