/** Running tasks several at a time. */

/**
 * Runs `work` on every task, at most `concurrency` at a time, in order of their start. After an
 * error no task is started; rejects with the first error when those in progress have ended.
 *
 * @param stopped asked before each task; no further one is started once it returns true
 */
export async function runTasks<Task>(
  tasks: Iterable<Task>,
  concurrency: number,
  work: (task: Task) => Promise<void>,
  stopped: () => boolean,
): Promise<void> {
  const errors: unknown[] = [];
  const queue = Iterator.from(tasks);
  const worker = async () => {
    while (errors.length === 0 && !stopped()) {
      const { value, done } = queue.next();
      if (done) return;
      await work(value as Task).catch((error) => errors.push(error));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  if (errors.length > 0) throw errors[0];
}
