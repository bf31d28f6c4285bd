/** The deadline of one call: the earlier of the service's and the caller's, or cancellation. */
import { ServiceError } from "../errors.ts";

/** A caller that allows less, in ms, cannot expect each answer in time: 95 % of calls take less than a second. */
const SHORT = 1_000;

/** A running deadline. */
export interface Deadline {
  /**
   * Aborts when the deadline passes or the caller cancels. Its reason is the `ServiceError`
   * `deadlineExceeded` or `canceled`.
   */
  readonly signal: AbortSignal;
  /** Whether it is the caller's own: shorter than the service's. */
  readonly isCallers: boolean;
  /** Whether the caller allowed less than `SHORT`. */
  readonly isShort: boolean;
  /** When it passes, in ms of `performance.now()`. */
  readonly at: number;
  /** Stops the timer and detaches from the caller's signal. `signal` does not abort after this. */
  clear(): void;
}

/**
 * Starts the deadline of a call that arrived at `now`.
 *
 * @param now epoch ms
 * @param callerDeadline epoch ms; Infinity if the caller sent none
 * @param callerSignal aborts when the caller cancels or disconnects
 * @param maxCall the longest a call may take, in ms; a caller's deadline can only shorten it
 */
export function startDeadline(
  now: number,
  callerDeadline: number,
  callerSignal: AbortSignal,
  maxCall: number,
): Deadline {
  const controller = new AbortController();
  const expire = () => controller.abort(new ServiceError("deadlineExceeded"));
  const cancel = () => controller.abort(new ServiceError("canceled"));
  const remaining = Math.min(maxCall, callerDeadline - now);
  if (remaining <= 0) expire();
  else if (callerSignal.aborted) cancel();
  else callerSignal.addEventListener("abort", cancel, { once: true });
  const timer = controller.signal.aborted ? undefined : setTimeout(expire, remaining);
  return {
    signal: controller.signal,
    isCallers: callerDeadline - now < maxCall,
    isShort: callerDeadline - now < Math.min(SHORT, maxCall),
    at: performance.now() + remaining,
    clear() {
      clearTimeout(timer);
      callerSignal.removeEventListener("abort", cancel);
    },
  };
}
