/**
 * Gives memory back after a peak. V8 collects garbage while it allocates: a process that is quiet
 * after a flood would keep the garbage of the flood. So the heap is collected and compacted when the
 * process has become quiet, where a pause delays hardly any call.
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
/** The time between the two collections, in ms: the first one lets buffers go, the second frees them. */
const PAUSE = 500;

/** Collects all garbage and returns free pages. Needs Node's `--expose-gc`, which `npm start` sets. */
const collectAll = globalThis.gc && (() => globalThis.gc?.(OPTIONS));
const OPTIONS = { type: "major", execution: "sync", flavor: "last-resort" } as const;

/** Starts to look. Does nothing without `collect`. `interval` is in ms. */
export function collectWhenQuiet(
  collect: (() => unknown) | undefined = collectAll,
  interval = INTERVAL,
): void {
  if (collect === undefined) return;
  let smallest = heapSize();
  let before = performance.eventLoopUtilization();
  setInterval(async () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    smallest = Math.min(smallest, heapSize());
    if (utilization > QUIET || heapSize() - smallest < MIN_GROWTH) return;
    // What is left after it is in use: only more than that is a peak again.
    smallest = Number.POSITIVE_INFINITY;
    collect();
    await sleep(PAUSE, undefined, { ref: false });
    collect();
    smallest = heapSize();
  }, interval).unref();
}

function heapSize(): number {
  return getHeapStatistics().total_heap_size;
}
