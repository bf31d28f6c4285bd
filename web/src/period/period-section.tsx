/** A section of the page about a period: how it is chosen, and what the service answers. */
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { ProblemNotice } from "../call/problem-notice.tsx";
import { type CallState, progress } from "../call/use-call.ts";
import { day, days } from "../instant.ts";

/** The period that an answer is about. */
interface Answer {
  readonly startDate?: Timestamp | undefined;
  readonly endDate?: Timestamp | undefined;
}

interface PeriodSectionProps<T extends Answer> {
  readonly title: string;
  readonly call: CallState<T>;
  /** What chooses the period. */
  readonly picker: ComponentChildren;
  /** Shows an answer. `dates` are its first and its last day, for the name of a file. */
  readonly children: (answer: T, dates: string) => ComponentChildren;
}

/** Shows the section. What was loaded before stays while it loads, and if that fails. */
export function PeriodSection<T extends Answer>(props: PeriodSectionProps<T>) {
  const { title, call, picker, children } = props;
  const { data, loading, problem } = call;
  const id = useId();
  const shown = problem?.kind === "request" ? undefined : data;
  const [start, end] = [shown?.startDate, shown?.endDate].map((at) => at && timestampDate(at));
  return (
    <section aria-labelledby={id} aria-busy={loading}>
      <div class="section-head">
        <h2 id={id}>{title}</h2>
        <p class="quiet small" role="status">
          {loading ? progress(call) : start && end && days(start, end)}
        </p>
      </div>
      {picker}
      <ProblemNotice call={call} />
      {shown && start && end && (
        <div class={loading ? "stale" : ""}>{children(shown, `${day(start)}_${day(end)}`)}</div>
      )}
    </section>
  );
}
