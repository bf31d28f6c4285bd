/** What is wrong with the calls of the page, and the way to try again. */
import { Notice } from "./notice.tsx";
import type { CallState } from "./use-call.ts";

/** Shows the problem of the first call that has one. What was loaded before stays below it. */
export function ProblemNotice({ calls }: { calls: readonly CallState<unknown>[] }) {
  // A period or a zone that cannot be asked for is told of where it was chosen.
  const failed = calls.filter(
    ({ problem }) => problem && problem.kind !== "request" && problem.kind !== "zone",
  );
  const problem = failed[0]?.problem;
  if (problem === undefined) return null;
  const loading = failed.some((call) => call.loading);
  const advice = (
    <>
      {problem.advice} {failed.some(({ data }) => data) && "The figures are those of before."}{" "}
      {problem.requestId && (
        <>
          Request id: <code>{problem.requestId}</code>
        </>
      )}
    </>
  );
  return (
    <Notice kind={problem.kind} title={problem.title} advice={advice}>
      <button type="button" onClick={() => failed.map(({ reload }) => reload())} disabled={loading}>
        {loading ? "Trying …" : "Try again"}
      </button>
    </Notice>
  );
}
