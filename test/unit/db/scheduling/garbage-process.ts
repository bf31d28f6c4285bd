/**
 * A process that measures garbage: how many bytes a read that waits in a batch leaves in V8's old
 * space, which is collected seldom and at a high price. Prints the number.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { GCProfiler, type GCProfilerResult } from "node:v8";
import { createBatching } from "../../../../src/db/scheduling/batching.ts";

const WORKERS = 32;
const READS = 4_000;

/** From 0 to 3 ms. */
const pause = () => sleep(Math.random() * 3);
/** Kept alive by a read that waits: 2 KB each. */
const payload = () => new Array(256).fill(0);

const read = createBatching<{ id: number }, unknown>({
  sizes: [2, 4, 8],
  keyOf: ({ id }) => String(id),
  alone: pause,
  together: async (items) => {
    await pause();
    return items;
  },
});

async function run(): Promise<void> {
  let left = READS;
  const work = async () => {
    while (left > 0) {
      const id = left--;
      const signal = Object.assign(new AbortController().signal, { payload: payload() });
      await read(Object.assign({ id }, { payload: payload() }), { signal, deadline: Infinity });
      if (id % 4 === 0) await pause();
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
}

function promoted({ statistics }: GCProfilerResult): number {
  type Moment = (typeof statistics)[number]["afterGC"];
  const old = ({ heapSpaceStatistics }: Moment) =>
    heapSpaceStatistics.find(({ spaceName }) => spaceName === "old_space")?.spaceUsedSize ?? 0;
  return statistics
    .filter(({ gcType }) => gcType === "Scavenge")
    .reduce((sum, { beforeGC, afterGC }) => sum + old(afterGC) - old(beforeGC), 0);
}

const warmUp = run();
// What waits now moves to the old space, as it does in every collection of the whole heap.
for (let i = 0; i < 3; i++) {
  await sleep(50);
  globalThis.gc?.();
}
await warmUp;
const profiler = new GCProfiler();
profiler.start();
await run();
const result = profiler.stop();
if (result === undefined) throw new Error("the profiler was not running");
console.log(Math.round(promoted(result) / READS));
