/** The page: the form for the key, or the figures of its provider. */
import { useCallback, useState } from "preact/hooks";
import type { Problem } from "./call/problem.ts";
import { Figures } from "./figures.tsx";
import { KeyForm } from "./key-form.tsx";
import { keyIn } from "./key-text.ts";
import { forgetKey, storedKey, storeKey } from "./session.ts";

/** What is wrong with a text that has no key. It is not sent: many a text cannot be, in a header. */
const NO_KEY: Problem = {
  kind: "key",
  title: "This is not an API key",
  advice: "A key is rvk_ and 49 letters and digits. Copy one of them, and all of it.",
  requestId: undefined,
};

/** A key, or what was entered in place of one, and what became of it. */
interface Entry {
  readonly key: string;
  /** Whether a person entered it just now. */
  readonly entered: boolean;
  /** Why it is not used any more. */
  readonly problem?: Problem;
}

/** Shows the page. */
export function App() {
  const [{ key, entered, problem }, setEntry] = useState<Entry>(() => ({
    key: storedKey() ?? "",
    entered: false,
  }));
  const reject = useCallback((problem: Problem) => {
    forgetKey();
    // It stays in the field, where a mistake in it can be corrected.
    setEntry((entry) => ({ ...entry, problem }));
  }, []);
  if (key === "" || problem) {
    const enter = (text: string) => {
      const key = keyIn(text);
      if (key !== undefined) storeKey(key);
      setEntry(
        key === undefined ? { key: text, entered: true, problem: NO_KEY } : { key, entered: true },
      );
    };
    return <KeyForm refused={key} problem={problem} onKey={enter} />;
  }
  const forget = () => {
    forgetKey();
    setEntry({ key: "", entered: false });
  };
  return <Figures apiKey={key} entered={entered} reject={reject} forget={forget} />;
}
