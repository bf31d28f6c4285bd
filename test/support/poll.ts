/** Waiting for a condition instead of for a time. */
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Asks until there is an answer, every 10 ms; what the question throws ends it.
 *
 * @param patience how long, in milliseconds
 * @throws Error where there is none by then
 */
export async function poll<T>(
  patience: number,
  ask: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  const deadline = performance.now() + patience;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`not within ${patience} ms: ${ask}`);
    await sleep(10);
  }
}

/** As `poll`, until the question is answered with true. */
export async function until(
  patience: number,
  ask: () => boolean | Promise<boolean>,
): Promise<void> {
  await poll(patience, async () => (await ask()) || undefined);
}
