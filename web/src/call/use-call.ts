/** A call of the service as state of a component. */
import type { CallOptions } from "@connectrpc/connect";
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { type Problem, problemOf } from "./problem.ts";

/** A call and its latest answer. */
export interface CallState<T> {
  /** The latest answer; it stays while the call is repeated, and if that fails. */
  readonly data?: T;
  /** The instant of the snapshot that the answer is from. */
  readonly asOf?: Date | undefined;
  /** What went wrong the last time. */
  readonly problem?: Problem;
  readonly loading: boolean;
  /** Calls again. */
  reload(): void;
}

/** Is told of a key that is not valid. */
export type Reject = (problem: Problem) => void;

/**
 * Calls now, and again whenever `send` changes, and when the browser is online again after a call that failed. A
 * call that is replaced is aborted.
 *
 * @param send the call, memoized; undefined for none yet
 */
export function useCall<T>(
  send: ((options: CallOptions) => Promise<T>) | undefined,
  reject: Reject,
): CallState<T> {
  const [run, setRun] = useState(0);
  const [state, setState] = useState<Omit<CallState<T>, "reload">>({ loading: true });
  // `run` starts the call again.
  useEffect(() => {
    if (send === undefined) return;
    const controller = new AbortController();
    const { signal } = controller;
    setState((before) => ({ ...before, loading: true }));
    let asOf: Date | undefined;
    const onHeader = (header: Headers) => {
      asOf = new Date(header.get("data-as-of") ?? "");
    };
    send({ signal, onHeader }).then(
      (data) => signal.aborted || setState({ data, asOf, loading: false }),
      (thrown) => {
        if (signal.aborted) return;
        const problem = problemOf(thrown);
        setState((before) => ({ ...before, problem, loading: false }));
        if (problem.kind === "key") reject(problem);
      },
    );
    return () => controller.abort();
  }, [send, reject, run]);
  const reload = useCallback(() => setRun((count) => count + 1), []);
  const { problem } = state;
  useEffect(() => {
    if (problem === undefined) return;
    addEventListener("online", reload);
    return () => removeEventListener("online", reload);
  }, [problem, reload]);
  return { ...state, reload };
}

/**
 * Calls an RPC, and again whenever the request is another one.
 *
 * @param after what the call follows: with another one it is made again; undefined for no call yet
 */
export function useRpc<Request, T>(
  rpc: (request: Request, options: CallOptions) => Promise<T>,
  request: Request,
  after: unknown,
  reject: Reject,
): CallState<T> {
  // A request with the same values is the same.
  const send = useMemo(
    () => (after ? (options: CallOptions) => rpc(request, options) : undefined),
    [rpc, JSON.stringify(request), after],
  );
  return useCall(send, reject);
}
