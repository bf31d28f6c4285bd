/** The page: the form for the key, or the figures of its provider. */
import { useCallback, useState } from "preact/hooks";
import type { Problem } from "./call/problem.ts";
import { Figures } from "./figures.tsx";
import { KeyForm } from "./key-form.tsx";
import { faultOfKey, keyIn } from "./key-text.ts";
import { forgetKey, storedKey, storeKey } from "./session.ts";

/** A key, or what was entered in place of one, and what became of it. */
interface Entry {
  readonly key: string;
  /** Whether a person entered it just now. */
  readonly entered: boolean;
  /** Why it is not used any more. */
  readonly problem?: Problem | undefined;
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
      const problem = faultOfKey(text);
      const key = (problem === undefined && keyIn(text)) || text;
      if (problem === undefined) storeKey(key);
      setEntry({ key, entered: true, problem });
    };
    return <KeyForm refused={key} problem={problem} onKey={enter} />;
  }
  const forget = () => {
    forgetKey();
    setEntry({ key: "", entered: false });
  };
  return <Figures apiKey={key} entered={entered} reject={reject} forget={forget} />;
}
