/** Chooses a period by a button. */
import { dayAt } from "../instant.ts";
import { choiceOf, type Period, type PeriodChoice, type Preset, type Presets } from "./period.ts";

interface PresetButtonsProps {
  readonly presetsOn: Presets;
  readonly timeZone: string;
  readonly period: Period;
  readonly onChoice: (choice: PeriodChoice) => void;
}

/** Shows the buttons. That of the period is pressed. */
export function PresetButtons({ presetsOn, timeZone, period, onChoice }: PresetButtonsProps) {
  return (
    <div class="buttons">
      {presetsOn(dayAt(new Date(), timeZone)).map(({ title, startDate, endDate }, nth) => (
        <button
          key={title}
          type="button"
          aria-pressed={startDate === period.startDate && endDate === period.endDate}
          onClick={() => onChoice(choiceOf((today) => presetsOn(today)[nth] as Preset))}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
