/** A call of the service as state of a component. */

import type { CallOptions } from "@connectrpc/connect";
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import type { PeriodChoice, ZonedPeriod } from "../period/period.ts";
import { type Problem, problemOf } from "./problem.ts";

/** A call and its latest answer. */
export interface CallState<T> {
  /** The latest answer; it stays while the call is repeated, and if that fails. */
  readonly data: T | undefined;
  /** The instant of the snapshot that the answer is from. */
  readonly asOf: Date | undefined;
  /** What went wrong the last time. */
  readonly problem: Problem | undefined;
  readonly loading: boolean;
  /** Whether the call has had no answer for a while. */
  readonly slow: boolean;
  /** Calls again. */
  reload(): void;
}

/** A call about a period that a person chooses. */
export interface PeriodCall<T> extends CallState<T> {
  readonly period: ZonedPeriod;
  choose(choice: PeriodChoice): void;
}

/** How long the page only says that it loads, in ms. */
const PATIENCE = 2_000;

/** What the page says about a call that has no answer yet. */
export function progress({ slow }: Pick<CallState<unknown>, "slow">): string {
  return slow ? "Still loading …" : "Loading …";
}

type Settled<T> = Omit<CallState<T>, "reload">;

/**
 * Calls now, and again whenever `send` changes. A call that is replaced is aborted.
 *
 * @param send the call, memoized; undefined for none yet
 * @param reject is told of a key that is not valid
 */
export function useCall<T>(
  send: ((options: CallOptions) => Promise<T>) | undefined,
  reject: (problem: Problem) => void,
): CallState<T> {
  const [run, setRun] = useState(0);
  const [state, setState] = useState<Settled<T>>({
    data: undefined,
    asOf: undefined,
    problem: undefined,
    loading: true,
    slow: false,
  });
  // `run` starts the call again.
  useEffect(() => {
    if (send === undefined) return;
    const controller = new AbortController();
    setState((before) => ({ ...before, loading: true, slow: false }));
    const timer = setTimeout(() => setState((before) => ({ ...before, slow: true })), PATIENCE);
    let asOf = new Date();
    const onHeader = (header: Headers) => {
      asOf = new Date(header.get("data-as-of") ?? asOf);
    };
    send({ signal: controller.signal, onHeader }).then(
      (data) => {
        if (controller.signal.aborted) return;
        clearTimeout(timer);
        setState({ data, asOf, problem: undefined, loading: false, slow: false });
      },
      (thrown) => {
        if (controller.signal.aborted) return;
        clearTimeout(timer);
        const problem = problemOf(thrown);
        setState((before) => ({ ...before, problem, loading: false, slow: false }));
        if (problem.kind === "key") reject(problem);
      },
    );
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [send, reject, run]);
  const reload = useCallback(() => setRun((count) => count + 1), []);
  return { ...state, reload };
}

/**
 * Calls an RPC of the client about a period, and again whenever the period or the time zone is another.
 *
 * @param ask the RPC; undefined for no call yet
 * @param first makes the choice at first
 */
export function usePeriodCall<T>(
  ask: ((request: ZonedPeriod, options: CallOptions) => Promise<T>) | undefined,
  first: () => PeriodChoice,
  timeZone: string,
  reject: (problem: Problem) => void,
): PeriodCall<T> {
  const [choice, setChoice] = useState(first);
  // The present day is that of the latest choice or call, and not another one when the page stays open.
  const [now, setNow] = useState(() => new Date());
  const period = useMemo(() => ({ ...choice(timeZone, now), timeZone }), [choice, timeZone, now]);
  const send = useMemo(
    () => ask && ((options: CallOptions) => ask(period, options)),
    [ask, period],
  );
  const reload = useCallback(() => setNow(new Date()), []);
  const choose = (next: PeriodChoice) => {
    // A function is no value for a state, but makes one.
    setChoice(() => next);
    reload();
  };
  return { ...useCall(send, reject), period, choose, reload };
}
