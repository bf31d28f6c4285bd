/**
 * Gives memory back after a peak. V8 collects garbage while it allocates: a process that is quiet
 * after a flood would keep the garbage of the flood. So the heap is collected when the process has
 * become quiet, where a pause delays hardly any call.
 */
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { getHeapStatistics } from "node:v8";

/** How often to look, in ms. */
const INTERVAL = 3_000;
/** How much the heap must have grown since it was collected last, in bytes. */
const MIN_GROWTH = 48 * 1024 * 1024;
/** The share of the time in which the event loop may be busy. */
const QUIET = 0.25;

/** The time between two collections of the whole heap, in ms: the first lets buffers go, the second frees them. */
const PAUSE = 500;
/**
 * The pauses before the collections that follow, in ms. V8 keeps freed pages in a pool: a later
 * collection of any kind gives those to the system that have been there for a second
 * (`--memory-pool-timeout=1`). It was the first or second one when measured, and the third if the peak
 * began less than 5 s before.
 */
const RELEASE_PAUSES = [2_000, 2_000, 2_000];

/** Collects the whole heap (`major`), or the young generation alone, which takes about a millisecond. */
export type Collect = (type: "major" | "minor") => unknown;

/**
 * Needs Node's `--expose-gc`, which `npm start` sets. The flavor `last-resort` would give pages back
 * at once, but drop the optimized code of calls of which none is open: the next seconds of load would
 * cost up to 1.8 times as much. With the regular one, `--retain-maps-for-n-gc` keeps it.
 */
const collectGarbage: Collect | undefined =
  globalThis.gc && ((type) => globalThis.gc?.({ type, execution: "sync", flavor: "regular" }));

/** Starts to look. Does nothing without `collect`. `interval` is in ms. */
export function collectWhenQuiet(
  collect: Collect | undefined = collectGarbage,
  interval = INTERVAL,
): void {
  if (collect === undefined) return;
  let smallest = heapSize();
  let before = performance.eventLoopUtilization();
  let isCollecting = false;
  setInterval(async () => {
    const start = before;
    before = performance.eventLoopUtilization();
    smallest = Math.min(smallest, heapSize());
    if (isCollecting || isBusy(start) || heapSize() - smallest < MIN_GROWTH) return;
    isCollecting = true;
    collect("major");
    await sleep(PAUSE, undefined, { ref: false });
    collect("major");
    // What is left is in use: only more than that is a peak again.
    smallest = heapSize();
    for (const pause of RELEASE_PAUSES) {
      const paused = performance.eventLoopUtilization();
      await sleep(pause, undefined, { ref: false });
      if (isBusy(paused)) break;
      collect("minor");
    }
    isCollecting = false;
  }, interval).unref();
}

function isBusy(since: ReturnType<typeof performance.eventLoopUtilization>): boolean {
  return performance.eventLoopUtilization(since).utilization > QUIET;
}

function heapSize(): number {
  return getHeapStatistics().total_heap_size;
}
