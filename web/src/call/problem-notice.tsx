/** A problem, and the way to try again. */
import type { CallState } from "./use-call.ts";

/** Shows the problem of a call, if it has one. What was loaded before stays below it. */
export function ProblemNotice<T>({ call }: { call: CallState<T> }) {
  const { problem, loading, reload, data } = call;
  if (problem === undefined) return null;
  return (
    <div class={`notice notice-${problem.kind}`} role="alert">
      <div>
        <strong>{problem.title}</strong>
        <p>{problem.advice}</p>
        {data !== undefined && problem.kind !== "request" && (
          <p class="quiet">The figures below are the ones that were loaded before.</p>
        )}
        {problem.requestId !== undefined && (
          <p class="quiet">
            Request id: <code>{problem.requestId}</code>
          </p>
        )}
      </div>
      {problem.kind !== "request" && (
        <button type="button" onClick={reload} disabled={loading}>
          {loading ? "Trying …" : "Try again"}
        </button>
      )}
    </div>
  );
}
