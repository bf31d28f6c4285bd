/** Buttons of which one is pressed. */
import type { ComponentChildren } from "preact";

interface ChoiceProps {
  /** What is chosen, for people who do not see it. */
  readonly label: string;
  readonly options: readonly { readonly id: string; readonly title: string }[];
  /** The id of the one that is pressed. */
  readonly chosen: string | undefined;
  readonly choose: (id: string) => void;
  /** Further controls. */
  readonly children?: ComponentChildren;
}

/** Shows the buttons. */
export function Choice({ label, options, chosen, choose, children }: ChoiceProps) {
  return (
    <fieldset class="choice buttons" aria-label={label}>
      {options.map(({ id, title }) => (
        <button key={id} type="button" aria-pressed={id === chosen} onClick={() => choose(id)}>
          {title}
        </button>
      ))}
      {children}
    </fieldset>
  );
}
