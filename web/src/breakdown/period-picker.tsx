/** Chooses a period: by a button, or by its two days. */
import type { Period } from "./period.ts";
import { presets } from "./period.ts";

interface PeriodPickerProps {
  readonly period: Period;
  readonly onPeriod: (period: Period) => void;
}

/** Shows the buttons and the fields. */
export function PeriodPicker({ period, onPeriod }: PeriodPickerProps) {
  const { startDate, endDate } = period;
  return (
    <fieldset class="period">
      <legend class="hidden">Period</legend>
      <div class="buttons">
        {presets(new Date()).map(({ title, ...preset }) => (
          <button
            key={title}
            type="button"
            aria-pressed={preset.startDate === startDate && preset.endDate === endDate}
            onClick={() => onPeriod(preset)}
          >
            {title}
          </button>
        ))}
      </div>
      <label>
        From
        <input
          type="date"
          value={startDate}
          onChange={(event) => onPeriod({ startDate: event.currentTarget.value, endDate })}
        />
      </label>
      <label>
        To
        <input
          type="date"
          value={endDate}
          onChange={(event) => onPeriod({ startDate, endDate: event.currentTarget.value })}
        />
      </label>
      <span class="quiet small">UTC, both days inclusive</span>
    </fieldset>
  );
}
