/** A section of the page about a period: how it is chosen, and what the service answers. */
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { ComponentChildren } from "preact";
import { Notice } from "../call/notice.tsx";
import { type CallState, progress } from "../call/use-call.ts";
import { days } from "../instant.ts";

/** The period that an answer is about. */
export interface Answer {
  readonly startDate?: Timestamp | undefined;
  readonly endDate?: Timestamp | undefined;
}

interface PeriodSectionProps<T extends Answer> {
  readonly id: string;
  readonly title: string;
  readonly call: CallState<T>;
  /** What chooses the period. */
  readonly picker: ComponentChildren;
  /** Shows an answer. */
  readonly children: (answer: T) => ComponentChildren;
}

/** The days that an answer is about; undefined without an answer. */
export function daysOf(answer: Answer | undefined): readonly [Date, Date] | undefined {
  const { startDate, endDate } = answer ?? {};
  return startDate && endDate && [timestampDate(startDate), timestampDate(endDate)];
}

/** Shows the section. What was loaded before stays while it loads, and if that fails. */
export function PeriodSection<T extends Answer>(props: PeriodSectionProps<T>) {
  const { id, title, call, picker, children } = props;
  const { data, loading, problem } = call;
  const fault = problem?.kind === "request" ? problem : undefined;
  const shown = fault ? undefined : data;
  const period = daysOf(shown);
  return (
    <section id={id} aria-labelledby={`${id}-title`} aria-busy={loading}>
      <div class="section-head">
        <h2 id={`${id}-title`}>{title}</h2>
        <p class="quiet small" role="status">
          {loading ? progress(call) : period && days(...period)}
        </p>
      </div>
      {picker}
      {fault && <Notice {...fault} />}
      {shown && <div class="answer">{children(shown)}</div>}
    </section>
  );
}
