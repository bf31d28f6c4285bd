/** The deadline of one call: the service's own, the caller's if that is earlier, and its cancellation. */
import { ServiceError } from "../errors.ts";

/** The longest call, in ms; a caller's deadline can only shorten it. */
export const LONGEST_CALL = 10_000;

export interface Deadline {
  /** Aborts when the deadline passes or the caller cancels; its reason is a `ServiceError`. */
  readonly signal: AbortSignal;
  /** Stops the timer at the end of the call. The signal does not abort after it. */
  clear(): void;
}

/**
 * Starts the deadline of a call that began at `now`.
 *
 * @param now epoch ms
 * @param callerDeadline epoch ms; Infinity without one
 * @param callerSignal aborts when the caller cancels or disconnects
 */
export function startDeadline(
  now: number,
  callerDeadline: number,
  callerSignal: AbortSignal,
): Deadline {
  const controller = new AbortController();
  const expire = () => controller.abort(new ServiceError("deadlineExceeded"));
  const cancel = () => controller.abort(new ServiceError("canceled"));
  const remaining = Math.min(LONGEST_CALL, callerDeadline - now);
  const timer = setTimeout(expire, Math.max(0, remaining));
  if (remaining <= 0) expire();
  else if (callerSignal.aborted) cancel();
  else callerSignal.addEventListener("abort", cancel, { once: true });
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer);
      callerSignal.removeEventListener("abort", cancel);
    },
  };
}
