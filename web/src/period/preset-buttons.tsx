/** Chooses a period by a button. */
import type { Period, Preset } from "./period.ts";

interface PresetButtonsProps {
  /** The periods on the day of `now`. */
  readonly presetsAt: (now: Date) => readonly Preset[];
  readonly period: Period;
  readonly onPeriod: (period: Period) => void;
}

/** Shows the buttons. That of the period is pressed. */
export function PresetButtons({ presetsAt, period, onPeriod }: PresetButtonsProps) {
  /** Chooses a period of the present day: the page may have been open since yesterday. */
  const choose = (nth: number) => {
    const { startDate, endDate } = presetsAt(new Date())[nth] as Preset;
    onPeriod({ startDate, endDate });
  };
  return (
    <div class="buttons">
      {presetsAt(new Date()).map(({ title, startDate, endDate }, nth) => (
        <button
          key={title}
          type="button"
          aria-pressed={startDate === period.startDate && endDate === period.endDate}
          onClick={() => choose(nth)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
