/** A figure on a card. */
import type { ComponentChildren } from "preact";

interface FigureCardProps {
  readonly title: string;
  /** The figure. */
  readonly children: ComponentChildren;
}

/** Shows the figure, in a `<dl class="cards">`. */
export function FigureCard({ title, children }: FigureCardProps) {
  return (
    <div class="card">
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}
