/** Chooses a period: by a button, or by its two days. */
import { useState } from "preact/hooks";
import { Notice } from "../call/notice.tsx";
import {
  faultOf,
  type Period,
  type PeriodChoice,
  presets,
  type ZonedPeriod,
} from "../period/period.ts";
import { PresetButtons } from "../period/preset-buttons.tsx";

interface PeriodPickerProps {
  readonly period: ZonedPeriod;
  /** Is told of a period that can be asked for. */
  readonly onChoice: (choice: PeriodChoice) => void;
}

/** Shows the buttons, the fields for other days, and what is wrong with the days in them. */
export function PeriodPicker({ period, onChoice }: PeriodPickerProps) {
  /** What is in the fields, if it cannot be asked for. */
  const [faulty, setFaulty] = useState<Period>();
  const { startDate, endDate } = faulty ?? period;
  const fault = faulty && faultOf(faulty);
  const choose = (choice: PeriodChoice) => {
    setFaulty(undefined);
    onChoice(choice);
  };
  const chooseDays = (days: Period) =>
    faultOf(days) === undefined ? choose(() => days) : setFaulty(days);
  const field = (title: string, end: keyof Period) => (
    <label>
      {title}
      <input
        type="date"
        value={{ startDate, endDate }[end]}
        onChange={(event) => chooseDays({ startDate, endDate, [end]: event.currentTarget.value })}
      />
    </label>
  );
  return (
    <>
      <fieldset class="period">
        <legend class="hidden">Period</legend>
        <PresetButtons
          presetsOn={presets}
          timeZone={period.timeZone}
          period={{ startDate, endDate }}
          onChoice={choose}
        />
        <details class="other-days">
          <summary>Other days</summary>
          {field("From", "startDate")}
          {field("To", "endDate")}
          <span class="quiet small">{period.timeZone}, both days inclusive</span>
        </details>
      </fieldset>
      {fault && <Notice kind="request" title={fault} />}
    </>
  );
}
