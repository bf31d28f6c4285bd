/** A time limit for work that has none of its own. */

/**
 * The outcome of `work`. The work goes on after the time limit, but nobody waits for it.
 *
 * @param timeout in ms
 * @throws Error with the code `ETIMEDOUT` if `work` takes longer; what it rejects with otherwise
 */
export async function withTimeout<T>(work: Promise<T>, timeout: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = new Error(`no answer within ${timeout} ms`);
    reject(Object.assign(error, { code: "ETIMEDOUT" }));
  }, timeout);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
