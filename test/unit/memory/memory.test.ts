import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { type Collect, collectWhenQuiet } from "../../../src/memory.ts";

const INTERVAL = 300;

const kept: unknown[] = [];

/** Grows the heap by more than 100 MB. They stay, so that the next call grows it again. */
function grow(): void {
  kept.push(Array.from({ length: 2_000_000 }, (_, index) => ({ index, text: `${index}` })));
}

/** The event loop does hardly anything else for so many ms. */
async function work(duration: number): Promise<void> {
  for (const end = performance.now() + duration; performance.now() < end; ) {
    for (const turn = performance.now() + 20; performance.now() < turn; );
    await sleep(1);
  }
}

it("the heap is collected once the process is quiet after a peak, and not before", async () => {
  const collect = vi.fn<Collect>();
  collectWhenQuiet(collect, INTERVAL);
  await sleep(3 * INTERVAL);
  expect(collect).not.toHaveBeenCalled();
  grow();
  await work(3 * INTERVAL);
  expect(collect).not.toHaveBeenCalled();
  await vi.waitUntil(() => collect.mock.calls.length === 5, { timeout: 20_000 });
  expect(collect.mock.calls.flat()).toEqual(["major", "major", "minor", "minor", "minor"]);
}, 30_000);

it("calls that come again end the collections, and their peak is collected too", async () => {
  const collect = vi.fn<Collect>();
  collectWhenQuiet(collect, INTERVAL);
  grow();
  await vi.waitUntil(() => collect.mock.calls.length === 2, { timeout: 10_000, interval: 20 });
  grow();
  await work(3_000);
  expect(collect).toHaveBeenCalledTimes(2);
  const all = ["major", "major", "major", "major", "minor", "minor", "minor"];
  await vi.waitUntil(() => collect.mock.calls.length === all.length, { timeout: 20_000 });
  expect(collect.mock.calls.flat()).toEqual(all);
}, 60_000);

it("without a way to collect nothing happens", () => {
  expect(() => collectWhenQuiet(undefined, INTERVAL)).not.toThrow();
});
