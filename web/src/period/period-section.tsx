/** A section of the page about a period: how it is chosen, and what the service answers. */
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { ComponentChildren } from "preact";
import { Notice } from "../call/notice.tsx";
import { type CallState, progress } from "../call/use-call.ts";
import { dayAt, UTC } from "../instant.ts";
import { periodText, type ZonedPeriod } from "./period.ts";

/** The period that an answer is about. */
export interface Answer {
  readonly startDate?: Timestamp | undefined;
  readonly endDate?: Timestamp | undefined;
  readonly timeZone?: string;
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

/** The days that an answer is about, in its zone; undefined without an answer. */
export function periodOf(answer: Answer | undefined): ZonedPeriod | undefined {
  const { startDate, endDate, timeZone = UTC } = answer ?? {};
  const day = (at: Timestamp) => dayAt(timestampDate(at), timeZone);
  return startDate && endDate && { startDate: day(startDate), endDate: day(endDate), timeZone };
}

/** Shows the section. What was loaded before stays while it loads, and if that fails. */
export function PeriodSection<T extends Answer>(props: PeriodSectionProps<T>) {
  const { id, title, call, picker, children } = props;
  const { data, loading, problem } = call;
  const fault = problem?.kind === "request" ? problem : undefined;
  const shown = fault ? undefined : data;
  const period = periodOf(shown);
  return (
    <section id={id} aria-labelledby={`${id}-title`} aria-busy={loading}>
      <div class="section-head">
        <h2 id={`${id}-title`}>{title}</h2>
        <p class="quiet small" role="status">
          {loading ? progress(call) : period && periodText(period)}
        </p>
      </div>
      {picker}
      {fault && <Notice {...fault} />}
      {shown && <div class="answer">{children(shown)}</div>}
    </section>
  );
}
