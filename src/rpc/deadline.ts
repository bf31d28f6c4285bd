/** The limits of one call: the service's own deadline, the caller's, and its going away. */
import { Failure } from "../failure.ts";
import type { Limits } from "../limits.ts";

/** The longest a call may take, in ms; a caller's deadline can only shorten it. */
export const LONGEST_CALL = 10_000;

export interface RunningLimits extends Limits {
  /** The instant at which the signal aborts, in epoch ms. */
  readonly deadline: number;
  /** Ends the limits with the call; nothing aborts any more. */
  end(): void;
}

/**
 * Starts the limits of a call that began at `now`.
 *
 * @param now epoch ms
 * @param callerDeadline epoch ms; Infinity without one
 * @param callerSignal aborts when the caller goes away
 */
export function startLimits(
  now: number,
  callerDeadline: number,
  callerSignal: AbortSignal,
): RunningLimits {
  const controller = new AbortController();
  const deadline = Math.min(now + LONGEST_CALL, callerDeadline);
  const expire = () => controller.abort(new Failure("deadlineExceeded"));
  const cancel = () => controller.abort(new Failure("canceled"));
  const timer = setTimeout(expire, Math.max(0, deadline - now));
  if (deadline <= now) expire();
  else if (callerSignal.aborted) cancel();
  else callerSignal.addEventListener("abort", cancel, { once: true });
  return {
    deadline,
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      callerSignal.removeEventListener("abort", cancel);
    },
  };
}
