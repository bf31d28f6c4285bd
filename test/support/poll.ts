/** Waits for a condition instead of for a fixed time. */
import { setTimeout as sleep } from "node:timers/promises";

const INTERVAL_MS = 10;
/** Only a test that fails waits for so long: less than its own time, and more than a busy machine takes. */
const TIMEOUT_MS = 45_000;

/**
 * Calls `read` every 10 ms until it returns a value other than undefined, and resolves to that
 * value. An error thrown by `read` ends the wait.
 *
 * @param timeout in milliseconds: only for a guarantee that names a time, or a longer test
 * @throws Error if there is no value within the timeout, nor in a call that began after it
 */
export async function poll<T>(
  read: () => T | undefined | Promise<T | undefined>,
  timeout = TIMEOUT_MS,
  description = `${read}`,
): Promise<T> {
  const deadline = performance.now() + timeout;
  for (;;) {
    const isLast = performance.now() > deadline;
    const value = await read();
    if (value !== undefined) return value;
    if (isLast) throw new Error(`not within ${timeout} ms: ${description}`);
    await sleep(INTERVAL_MS);
  }
}

/** Waits until the condition is true. Timeout and errors as for `poll`. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  timeout?: number,
): Promise<void> {
  await poll(async () => (await condition()) || undefined, timeout, `${condition}`);
}
