/** Chooses a period: by a button, or by its two days. */
import { useState } from "preact/hooks";
import { faultOf, type Period, presets } from "../period/period.ts";
import { PresetButtons } from "../period/preset-buttons.tsx";

interface PeriodPickerProps {
  /** The period at first. */
  readonly period: Period;
  /** Is told of a period that can be asked for. */
  readonly onPeriod: (period: Period) => void;
}

/** Shows the buttons and the fields, and what is wrong with the days in them. */
export function PeriodPicker({ period, onPeriod }: PeriodPickerProps) {
  const [chosen, setChosen] = useState(period);
  const { startDate, endDate } = chosen;
  const fault = faultOf(chosen);
  const choose = (next: Period) => {
    setChosen(next);
    if (faultOf(next) === undefined) onPeriod(next);
  };
  return (
    <>
      <fieldset class="period">
        <legend class="hidden">Period</legend>
        <PresetButtons presetsAt={presets} period={chosen} onPeriod={choose} />
        <label>
          From
          <input
            type="date"
            value={startDate}
            onChange={(event) => choose({ startDate: event.currentTarget.value, endDate })}
          />
        </label>
        <label>
          To
          <input
            type="date"
            value={endDate}
            onChange={(event) => choose({ startDate, endDate: event.currentTarget.value })}
          />
        </label>
        <span class="quiet small">UTC, both days inclusive</span>
      </fieldset>
      {fault && (
        <div class="notice notice-request" role="alert">
          <strong>{fault}</strong>
        </div>
      )}
    </>
  );
}
