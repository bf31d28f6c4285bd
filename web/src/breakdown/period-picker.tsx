/** Chooses a period: by a button, or by its two days. */
import { useState } from "preact/hooks";
import { Notice } from "../call/notice.tsx";
import { faultOf, type Period, presets } from "../period/period.ts";
import { PresetButtons } from "../period/preset-buttons.tsx";

interface PeriodPickerProps {
  /** The period at first. */
  readonly period: Period;
  /** Is told of a period that can be asked for. */
  readonly onPeriod: (period: Period) => void;
}

/** Shows the buttons, the fields for other days, and what is wrong with the days in them. */
export function PeriodPicker({ period, onPeriod }: PeriodPickerProps) {
  const [chosen, setChosen] = useState(period);
  const fault = faultOf(chosen);
  const choose = (next: Period) => {
    setChosen(next);
    if (faultOf(next) === undefined) onPeriod(next);
  };
  const field = (title: string, end: keyof Period) => (
    <label>
      {title}
      <input
        type="date"
        value={chosen[end]}
        onChange={(event) => choose({ ...chosen, [end]: event.currentTarget.value })}
      />
    </label>
  );
  return (
    <>
      <fieldset class="period">
        <legend class="hidden">Period</legend>
        <PresetButtons presetsAt={presets} period={chosen} onPeriod={choose} />
        <details class="other-days">
          <summary>Other days</summary>
          {field("From", "startDate")}
          {field("To", "endDate")}
          <span class="quiet small">UTC, both days inclusive</span>
        </details>
      </fieldset>
      {fault && <Notice kind="request" title={fault} />}
    </>
  );
}
