import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { collectWhenQuiet } from "../../../src/memory.ts";

const INTERVAL = 300;

/** Grows the heap by more than 100 MB, which are garbage afterwards. */
function grow(): number {
  const kept = Array.from({ length: 2_000_000 }, (_, index) => ({ index, text: `${index}` }));
  return kept.length;
}

it("the heap is collected twice once the process is quiet after a peak, and not before", async () => {
  const collect = vi.fn();
  collectWhenQuiet(collect, INTERVAL);
  await sleep(3 * INTERVAL);
  expect(collect).not.toHaveBeenCalled();
  grow();
  // Busy: no collection.
  for (const end = performance.now() + 3 * INTERVAL; performance.now() < end; ) {
    for (const turn = performance.now() + 20; performance.now() < turn; );
    await sleep(1);
  }
  expect(collect).not.toHaveBeenCalled();
  await vi.waitUntil(() => collect.mock.calls.length === 2, { timeout: 5_000 });
});

it("without a way to collect nothing happens", () => {
  expect(() => collectWhenQuiet(undefined, INTERVAL)).not.toThrow();
});
