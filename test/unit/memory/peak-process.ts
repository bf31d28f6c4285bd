/**
 * A process with peaks of memory, that is quiet after each. Prints its resident memory in MiB, and
 * whether a function is optimized, both at the last peak and once it has given back 100 MiB, or after
 * 30 s.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { collectWhenQuiet } from "../../../src/memory.ts";

const MEBIBYTE = 1024 * 1024;
const PEAKS = 3;
/** In ms: long enough for the collections of the whole heap. */
const QUIET_TIME = 1_500;
const MAX_QUIET_TIME = 30_000;
/** How much is to be given back after the last peak, in MiB. */
const GIVEN_BACK = 100;
/** V8's status of a function: optimized by Maglev, by TurboFan. */
const OPTIMIZED = (1 << 4) | (1 << 5);

/** V8 keeps the shape of the objects, and with it the optimized code, while one of them is alive. */
function call(id: number): { id: number; answer?: number } {
  const object: { id: number; answer?: number } = { id };
  object.answer = id % 7;
  return object;
}

/** Runs until V8 has optimized `call`. */
async function run(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) {
    const calls = [];
    for (let id = 0; id < 200_000; id++) calls[id % 50] = call(id);
    await sleep(10);
  }
}

function measure() {
  const status: number = new Function("call", "return %GetOptimizationStatus(call)")(call);
  const resident = Math.round(process.memoryUsage.rss() / MEBIBYTE);
  return { resident, optimized: (status & OPTIMIZED) !== 0 };
}

/** Returns what was measured while 100 MB were in use. They are garbage afterwards. */
function peak() {
  const kept = Array.from({ length: 2_000_000 }, (_, index) => ({ index, text: `${index}` }));
  return { ...measure(), kept: kept.length };
}

setFlagsFromString("--allow-natives-syntax");
await run();
// From now on no object of `call` is alive, in one collection after the other.
collectWhenQuiet(undefined, 200);
for (let i = 1; i < PEAKS; i++) {
  peak();
  await sleep(QUIET_TIME);
}
const atPeak = peak();
const end = performance.now() + MAX_QUIET_TIME;
do await sleep(500);
while (measure().resident > atPeak.resident - GIVEN_BACK && performance.now() < end);
console.log(JSON.stringify({ peak: atPeak, after: measure() }));
