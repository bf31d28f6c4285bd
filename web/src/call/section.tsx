/** A section of the page about the answer of a call, which shows its shape while it is loading. */
import type { ComponentChildren } from "preact";
import { Notice } from "./notice.tsx";
import type { CallState } from "./use-call.ts";

interface SectionProps {
  readonly id: string;
  readonly title: string;
  /** The call that it waits for. */
  readonly call: CallState<unknown>;
  /** What the answer is about. */
  readonly about?: ComponentChildren;
  /** What is beside the title. */
  readonly head?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Shows the section. What was loaded before stays while it loads, and if that fails. */
export function Section({ id, title, call, about, head, children }: SectionProps) {
  const { loading, problem } = call;
  return (
    <section id={id} aria-labelledby={`${id}-title`} aria-busy={loading}>
      <div class="section-head">
        <h2 id={`${id}-title`}>{title}</h2>
        <p class="quiet small" role="status">
          {loading ? "Loading …" : about}
        </p>
        {head}
      </div>
      {problem?.kind === "request" && <Notice {...problem} />}
      <div class="answer">{children}</div>
    </section>
  );
}
