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

/**
 * What follows the first collection, each with the pause before it in ms. The first one lets buffers
 * go, the second frees them. V8 keeps freed pages in a pool: a later collection of any kind gives
 * those to the system that have been there for a second (`--memory-pool-timeout=1`). It was the third
 * or fourth one when measured, and the fifth if the peak began less than 5 s before the first.
 */
const NEXT = [
  [500, "major"],
  [2_000, "minor"],
  [2_000, "minor"],
  [2_000, "minor"],
] as const;

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
  setInterval(async () => {
    const start = before;
    before = performance.eventLoopUtilization();
    smallest = Math.min(smallest, heapSize());
    if (isBusy(start) || heapSize() - smallest < MIN_GROWTH) return;
    // What is left after it is in use: only more than that is a peak again.
    smallest = Number.POSITIVE_INFINITY;
    collect("major");
    for (const [pause, type] of NEXT) {
      const paused = performance.eventLoopUtilization();
      await sleep(pause, undefined, { ref: false });
      if (isBusy(paused)) break;
      collect(type);
    }
    smallest = heapSize();
  }, interval).unref();
}

function isBusy(since: ReturnType<typeof performance.eventLoopUtilization>): boolean {
  return performance.eventLoopUtilization(since).utilization > QUIET;
}

function heapSize(): number {
  return getHeapStatistics().total_heap_size;
}
