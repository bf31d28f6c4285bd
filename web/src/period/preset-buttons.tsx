/** Chooses a period by a button. */
import type { Period, Preset } from "./period.ts";

interface PresetButtonsProps {
  readonly presets: readonly Preset[];
  readonly period: Period;
  readonly onPeriod: (period: Period) => void;
}

/** Shows the buttons. That of the period is pressed. */
export function PresetButtons({ presets, period, onPeriod }: PresetButtonsProps) {
  return (
    <div class="buttons">
      {presets.map(({ title, startDate, endDate }) => (
        <button
          key={title}
          type="button"
          aria-pressed={startDate === period.startDate && endDate === period.endDate}
          onClick={() => onPeriod({ startDate, endDate })}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
