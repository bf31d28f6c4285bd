/**
 * Retries of calls that the service did not serve. Every RPC is read-only, so that a call may be
 * repeated whatever became of it.
 */
import { Code, ConnectError, type Interceptor, type UnaryRequest } from "@connectrpc/connect";

/** How often a call is repeated, unless the options say otherwise. */
export const RETRIES = 3;

/** The pause before the first repetition, in ms. It doubles with each. */
const FIRST_PAUSE = 200;

/** The longest pause that the service may ask for, in ms. */
const LONGEST_PAUSE = 30_000;

/** The header that carries the time left of a call, in ms. */
const TIMEOUT = "connect-timeout-ms";

/**
 * Repeats calls that end with UNAVAILABLE, or with RESOURCE_EXHAUSTED and `Retry-After`. A pause is
 * never shorter than `Retry-After`, and longer by a random time, so that clients that failed
 * together do not return together. The error is thrown at once if the pause would end after the
 * deadline of the call.
 */
export function createRetry(retries: number): Interceptor {
  return (next) => async (request) => {
    if (request.stream) return next(request);
    const deadline = Date.now() + Number(request.header.get(TIMEOUT) ?? Number.POSITIVE_INFINITY);
    for (let attempt = 0; ; attempt++) {
      try {
        return await next(request);
      } catch (thrown) {
        const pause = pauseAfter(ConnectError.from(thrown), attempt);
        const resumed = Date.now() + (pause ?? 0);
        if (pause === undefined || attempt >= retries || resumed >= deadline) throw thrown;
        await sleep(pause, request.signal);
        setTimeLeft(request, deadline);
      }
    }
  };
}

/**
 * The seconds after which the service asks to repeat a call that ended with an error; undefined if
 * it does not ask.
 */
export function retryAfter(error: ConnectError): number | undefined {
  const seconds = error.metadata.get("retry-after") ?? "";
  return /^\d{1,9}$/.test(seconds) ? Number(seconds) : undefined;
}

/** The pause before a call is repeated, in ms; undefined if it is not to be repeated. */
function pauseAfter(error: ConnectError, attempt: number): number | undefined {
  const asked = retryAfter(error);
  const mayRepeat =
    error.code === Code.Unavailable ||
    (error.code === Code.ResourceExhausted && asked !== undefined);
  const least = (asked ?? 0) * 1000;
  if (!mayRepeat || least > LONGEST_PAUSE) return undefined;
  return least + FIRST_PAUSE * 2 ** attempt * (0.5 + Math.random());
}

function setTimeLeft({ header }: UnaryRequest, deadline: number): void {
  if (header.has(TIMEOUT)) header.set(TIMEOUT, `${Math.max(1, deadline - Date.now())}`);
}

/** Rejects with the signal's reason if it aborts. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", abort);
      resolve();
    }, ms);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}
