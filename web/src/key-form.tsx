/** Asks for the API key. */
import { useEffect, useRef, useState } from "preact/hooks";
import { Notice } from "./call/notice.tsx";
import type { Problem } from "./call/problem.ts";

interface KeyFormProps {
  /** The key before this one, and why it is not used any more. */
  readonly refused: string;
  readonly problem: Problem | undefined;
  readonly onKey: (key: string) => void;
}

/**
 * Shows the form. The field has no name and the form no action, so that a key can never be
 * submitted into a URL; it is no password field, so that no browser offers to keep the key.
 */
export function KeyForm({ refused, problem, onKey }: KeyFormProps) {
  const [key, setKey] = useState(refused);
  const [shown, setShown] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const submit = (event: Event) => {
    event.preventDefault();
    // If it is none, it is corrected there.
    field.current?.focus();
    onKey(key);
  };
  return (
    <main class="welcome">
      <form class="card answer" onSubmit={submit} autocomplete="off">
        <h1>Your revenue</h1>
        <p class="quiet">Enter your API key to see what you earned.</p>
        {problem && <Notice id="key-problem" {...problem} />}
        <label for="key">API key</label>
        <div class="buttons">
          <input
            id="key"
            ref={field}
            type="text"
            class={shown ? "" : "masked"}
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
            placeholder="rvk_…"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            aria-invalid={problem !== undefined}
            aria-describedby={problem ? "key-problem key-note" : "key-note"}
            required
          />
          <button type="button" aria-pressed={shown} onClick={() => setShown(!shown)}>
            Show
          </button>
        </div>
        <button type="submit" class="primary">
          Show revenue
        </button>
        <p id="key-note" class="quiet small">
          The key stays in this tab and is forgotten when you close it. It is sent to this service
          only.
        </p>
      </form>
      <p class="quiet small">
        Prefer code? Read the <a href="docs">API reference</a>.
      </p>
    </main>
  );
}
