/** Chooses the time zone of all dates. */
import type { Zone } from "./use-zone.ts";

/** Shows a button for each zone, if there are two, and why there are not. */
export function ZoneChoice({ zone }: { readonly zone: Zone }) {
  const { timeZone, choices, problem, choose } = zone;
  if (problem) {
    return (
      <p class="quiet small" role="status">
        {problem.title}. {problem.advice}
      </p>
    );
  }
  if (choices.length === 1) return null;
  return (
    <fieldset class="period">
      <legend class="hidden">Time zone</legend>
      <div class="buttons">
        {choices.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === timeZone}
            onClick={() => choose(name)}
          >
            {name}
          </button>
        ))}
      </div>
    </fieldset>
  );
}
