/** The page: the form for the key, or the figures of its provider. */
import { useCallback, useMemo, useState } from "preact/hooks";
import { createRevenueClient } from "../../clients/typescript/src/index.ts";
import { Breakdown } from "./breakdown/breakdown.tsx";
import type { Problem } from "./call/problem.ts";
import { Daily } from "./daily/daily.tsx";
import { KeyForm } from "./key-form.tsx";
import { Overview } from "./overview/overview.tsx";
import { forgetKey, storedKey, storeKey } from "./session.ts";

/** Shows the page. */
export function App() {
  const [key, setKey] = useState(storedKey);
  // A key that was just entered is tried by one call, so that a wrong one is refused once only.
  const [accepted, setAccepted] = useState(key !== undefined);
  const accept = useCallback(() => setAccepted(true), []);
  const [problem, setProblem] = useState<Problem>();
  const leave = useCallback((reason?: Problem) => {
    forgetKey();
    setProblem(reason);
    setKey(undefined);
  }, []);
  const client = useMemo(
    () => key && createRevenueClient({ baseUrl: location.origin, apiKey: key }),
    [key],
  );
  if (!client) {
    const enter = (entered: string) => {
      storeKey(entered);
      setProblem(undefined);
      setAccepted(false);
      setKey(entered);
    };
    return <KeyForm problem={problem} onKey={enter} />;
  }
  return (
    <>
      <header class="top">
        <div class="top-inner">
          <h1>
            Revenue <span class="badge">beta</span>
          </h1>
          <span class="quiet small">All times are UTC, all amounts US dollars</span>
          <nav>
            <a href="/docs">API reference</a>
            <button type="button" onClick={() => leave()}>
              Forget key
            </button>
          </nav>
        </div>
      </header>
      <main class="page">
        <Overview client={client} reject={leave} accept={accept} />
        {accepted && (
          <>
            <Daily client={client} reject={leave} />
            <Breakdown client={client} reject={leave} />
          </>
        )}
      </main>
    </>
  );
}
