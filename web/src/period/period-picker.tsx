/** Chooses a period: by a button, or by its two days. */
import { useState } from "preact/hooks";
import type { Go } from "../address.ts";
import { Notice } from "../call/notice.tsx";
import { Choice } from "../choice.tsx";
import { faultOf, type Period, presets, textOf } from "./period.ts";

interface PeriodPickerProps {
  readonly period: Period;
  readonly today: string;
  readonly go: Go;
}

/** Shows the buttons, the fields for other days, and what is wrong with the days in them. */
export function PeriodPicker({ period, today, go }: PeriodPickerProps) {
  /** What is in the fields, if it cannot be asked for. */
  const [faulty, setFaulty] = useState<Period>();
  const days = faulty ?? period;
  const fault = faulty && faultOf(faulty);
  const choose = (text: string) => {
    setFaulty(undefined);
    go({ period: text });
  };
  const chooseDays = (days: Period) =>
    faultOf(days) === undefined ? choose(textOf(days)) : setFaulty(days);
  const field = (title: string, end: keyof Period) => (
    <label>
      {title}
      <input
        type="date"
        value={days[end]}
        onChange={(event) => chooseDays({ ...days, [end]: event.currentTarget.value })}
      />
    </label>
  );
  const all = presets(today);
  return (
    <>
      <Choice
        label="Period"
        options={all}
        chosen={all.find((preset) => textOf(preset) === textOf(period))?.id}
        choose={choose}
      >
        <details class="other-days">
          <summary>Other days</summary>
          {field("From", "startDate")}
          {field("To", "endDate")}
          <span class="quiet small">both days inclusive</span>
        </details>
      </Choice>
      {fault && <Notice kind="request" title={fault} />}
    </>
  );
}
