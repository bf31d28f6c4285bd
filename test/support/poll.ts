/** Waits for a condition instead of for a fixed time. */
import { setTimeout as sleep } from "node:timers/promises";
import { TIME_LIMIT } from "../../dev/time-limit.ts";

const INTERVAL_MS = 10;

/**
 * Calls `read` every 10 ms until it returns a value other than undefined, and resolves to that
 * value. An error thrown by `read` ends the wait.
 *
 * @param awaited what is waited for, for the message; the text of `read` by default
 * @throws Error if there is no value within `TIME_LIMIT`, nor in a call that began after it
 */
export async function poll<T>(
  read: () => T | undefined | Promise<T | undefined>,
  awaited = `${read}`,
): Promise<T> {
  const deadline = performance.now() + TIME_LIMIT;
  for (;;) {
    const isLast = performance.now() > deadline;
    const value = await read();
    if (value !== undefined) return value;
    if (isLast) throw tooLate(awaited);
    await sleep(INTERVAL_MS);
  }
}

/** Waits until the condition is true. Errors as for `poll`. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  await poll(async () => (await condition()) || undefined, `${condition}`);
}

/**
 * Settles as an event does that may never come, such as the end of a program.
 *
 * @param event what is waited for: "the end of the service"
 * @param output what the program has written so far
 * @throws Error with both if it does not come within `TIME_LIMIT`
 */
export async function waitFor<T>(
  promise: Promise<T>,
  event: string,
  output: () => string = () => "",
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(tooLate(`${event}\n${output()}`)), TIME_LIMIT);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function tooLate(awaited: string): Error {
  return new Error(`not within ${TIME_LIMIT / 60_000} minutes: ${awaited}`);
}
