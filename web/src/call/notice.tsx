/** Something that a person has to know of. */
import type { ComponentChildren } from "preact";

interface NoticeProps {
  /** `request` and `busy` are milder than the others. */
  readonly kind: string;
  readonly title: string;
  readonly advice?: ComponentChildren;
  readonly id?: string;
  /** A button. */
  readonly children?: ComponentChildren;
}

/** Shows it, and has it read out. */
export function Notice({ kind, title, advice, id, children }: NoticeProps) {
  return (
    <div class={`notice notice-${kind}`} role="alert" id={id}>
      <div>
        <strong>{title}</strong>
        <p>{advice}</p>
      </div>
      {children}
    </div>
  );
}
