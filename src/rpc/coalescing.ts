/**
 * Coalescing: identical concurrent calls of one share and provider share a run, as transactions share one
 * write in a group commit. While two runs of a key are in flight, further calls wait, and the
 * next run serves all of them. A caller that repeats one request over many connections thus
 * costs the database two statements at a time.
 *
 * Unlike singleflight, a call never joins a run that has started: that run's snapshot could be
 * older than the call, and its result could lack a charge that the caller knows was recorded.
 */

/** How many runs of one key may be in flight: more than one, because one may be slow. */
const MAX_IN_FLIGHT = 2;
/** A run no longer counts as in flight after this many ms: its connection may be dead. */
const RUN_TIMEOUT = 1_000;

/** What a run does. Its signal aborts when the last of its callers leaves. */
type Work<T> = (signal: AbortSignal) => Promise<T>;

/** A run that is waiting or in flight, and its callers. */
interface Run {
  readonly controller: AbortController;
  readonly result: PromiseWithResolvers<unknown>;
  readonly work: Work<unknown>;
  callers: number;
}

/** The runs of one key. */
interface Queue {
  inFlight: number;
  next: Run | undefined;
}

/** Creates the coalescing of one process: a function that runs work once for several calls. */
export function createCoalescing() {
  const queues = new Map<string, Queue>();

  /** Starts the next run, as one of those in flight. */
  function start(key: string, queue: Queue): void {
    const run = queue.next;
    queue.next = undefined;
    if (run === undefined || run.callers === 0) {
      if (--queue.inFlight === 0) queues.delete(key);
      return;
    }
    let counted = true;
    const release = () => {
      if (!counted) return;
      counted = false;
      start(key, queue);
    };
    const timeout = setTimeout(release, RUN_TIMEOUT).unref();
    Promise.try(run.work, run.controller.signal)
      .then(run.result.resolve, run.result.reject)
      .finally(() => {
        clearTimeout(timeout);
        release();
      });
  }

  /**
   * Joins the next run of a key; calls with the same key may get the same result. Rejects with
   * what the run rejects with, or with the reason of the caller's signal as soon as it aborts; the
   * run goes on for the other callers.
   */
  return async <T>(key: string, signal: AbortSignal, work: Work<T>): Promise<T> => {
    signal.throwIfAborted();
    const queue = queues.getOrInsertComputed(key, () => ({ inFlight: 0, next: undefined }));
    // A waiting run without callers was aborted when the last one left; it is replaced.
    if (!queue.next?.callers) queue.next = createSharedRun(work);
    const result = join(queue.next, signal);
    if (queue.inFlight < MAX_IN_FLIGHT) {
      queue.inFlight++;
      // After the calls that arrive in this turn of the event loop and in the next one, which join the run: callers
      // who were answered together come again within two.
      setImmediate(() => setImmediate(start, key, queue));
    }
    return result as Promise<T>;
  };
}

function createSharedRun(work: Work<unknown>): Run {
  const result = Promise.withResolvers<unknown>();
  result.promise.catch(() => {}); // every caller may have left
  return { controller: new AbortController(), result, work, callers: 0 };
}

/** Waits for a run's result; leaves the run if the signal aborts first. */
function join(run: Run, signal: AbortSignal): Promise<unknown> {
  run.callers++;
  return new Promise((resolve, reject) => {
    const leave = () => {
      reject(signal.reason);
      run.callers--;
      if (run.callers === 0) run.controller.abort(signal.reason);
    };
    signal.addEventListener("abort", leave, { once: true });
    run.result.promise
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", leave));
  });
}
