/**
 * A process that measures garbage: how many bytes per operation V8 promotes to its old space, which
 * it collects seldom and at a high price. Prints them as JSON, by operation.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { GCProfiler, type GCProfilerResult } from "node:v8";
import { createKeyQueue } from "../../../../src/auth/key-queue.ts";
import { createBatching } from "../../../../src/db/scheduling/batching.ts";
import { createFairShare } from "../../../../src/db/scheduling/fair-share.ts";

const WORKERS = 32;
const OPERATIONS = 4_000;

/** What a call keeps alive while it waits. */
const payload = () => new Array(256).fill(0);
const signal = () => Object.assign(new AbortController().signal, { payload: payload() });
/** From 0 to 3 ms. */
const pause = () => sleep(Math.random() * 3);

let next = 0;
const batched = createBatching<{ id: number }, unknown>({
  sizes: [2, 4, 8],
  keyOf: ({ id }) => String(id),
  alone: pause,
  together: async (items) => {
    await pause();
    return items;
  },
});
const share = createFairShare(4, 10_000);
const findKey = createKeyQueue(async () => {
  await pause();
  return new Map();
});

const operations = {
  batching: () =>
    batched(Object.assign({ id: next++ }, { payload: payload() }), {
      signal: signal(),
      deadline: Infinity,
    }),
  async fairShare() {
    const owner = String(next++ % 9);
    if (!share.take(owner)) await share.wait(owner, signal());
    await pause();
    share.give(owner);
  },
  keyQueue: () =>
    findKey(Buffer.alloc(32, next), { signal: signal(), address: String(next++ % 9) }),
};

async function run(operation: () => Promise<unknown>): Promise<void> {
  let left = OPERATIONS;
  const work = async () => {
    while (left-- > 0) {
      await operation();
      if (left % 4 === 0) await pause();
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
}

function promoted({ statistics }: GCProfilerResult): number {
  type Moment = (typeof statistics)[number]["afterGC"];
  const old = ({ heapSpaceStatistics }: Moment) =>
    heapSpaceStatistics
      .filter(({ spaceName }) => spaceName === "old_space")
      .reduce((sum, { spaceUsedSize }) => sum + spaceUsedSize, 0);
  return statistics
    .filter(({ gcType }) => gcType === "Scavenge")
    .reduce((sum, { beforeGC, afterGC }) => sum + old(afterGC) - old(beforeGC), 0);
}

const results: Record<string, number> = {};
for (const [name, operation] of Object.entries(operations)) {
  const warmUp = run(operation);
  // Whatever waits now is promoted, and V8 does not look into its old space when it collects the new.
  for (let i = 0; i < 3; i++) {
    await sleep(50);
    globalThis.gc?.();
  }
  await warmUp;
  const profiler = new GCProfiler();
  profiler.start();
  await run(operation);
  const result = profiler.stop();
  if (result === undefined) throw new Error("the profiler was not running");
  results[name] = Math.round(promoted(result) / OPERATIONS);
}
console.log(JSON.stringify(results));
