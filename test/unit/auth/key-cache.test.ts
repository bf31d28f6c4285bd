import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { cacheKeys } from "../../../src/auth/key-cache.ts";
import type { IssuedKey } from "../../../src/auth/key-lookup.ts";
import { providerKey } from "../../support/caller-key.ts";

const request = { signal: new AbortController().signal, address: "192.0.2.1" };

const valid: IssuedKey = { key: providerKey("7"), expiresAt: Infinity, revoked: false };
const revoked: IssuedKey = { ...valid, revoked: true };

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

/** A cache over a registry and with a clock that the test may change; `queues` are those of its queries. */
function cached(lookup?: (query: number) => Promise<IssuedKey | undefined>) {
  const registry = new Map<string, IssuedKey>();
  const started = performance.now();
  const clock = {
    /** The time since the start, in ms. */
    set now(time: number) {
      vi.advanceTimersByTime(started + time - performance.now());
    },
  };
  const queues: string[] = [];
  const through = (queue: string) => async (keyHash: Buffer) => {
    queues.push(queue);
    return lookup ? lookup(queues.length) : registry.get(keyHash.toString());
  };
  const lookups = { known: through("known"), unknown: through("unknown") };
  const cache = cacheKeys(lookups);
  const find = (hash: string) => cache(Buffer.from(hash), request);
  return { registry, clock, find, queues };
}

it("a key is queried once in half a second, and one call refreshes it while the others use it, but not for a second", async () => {
  const refresh = Promise.withResolvers<IssuedKey>();
  const { clock, find, queues } = cached((query) =>
    query === 1 ? Promise.resolve(valid) : refresh.promise,
  );
  await find("a");
  clock.now = 499;
  expect(await find("a")).toEqual(valid);
  expect(queues).toHaveLength(1);
  clock.now = 500;
  const refreshing = find("a");
  for (let i = 0; i < 200; i++) expect(await find("a")).toEqual(valid);
  expect(queues).toHaveLength(2);
  clock.now = 900;
  const late = find("a");
  expect(queues).toHaveLength(3);
  refresh.resolve(revoked);
  expect(await Promise.all([refreshing, late])).toEqual([revoked, revoked]);
});

it("after a failed refresh, the next call queries again", async () => {
  const { clock, find, queues } = cached(async (query) => {
    if (query === 2) throw new Error("down");
    return valid;
  });
  await find("a");
  clock.now = 500;
  await expect(find("a")).rejects.toThrow("down");
  expect(await find("a")).toEqual(valid);
  expect(queues).toHaveLength(3);
});

it("a key that was found before does not wait with those that were not", async () => {
  const { registry, clock, find, queues } = cached();
  registry.set("a", valid);
  await find("a");
  clock.now = 3_600_000;
  expect((await find("a"))?.key).toEqual(providerKey("7"));
  expect(await find("b")).toBeUndefined();
  await find("b");
  expect(queues).toEqual(["unknown", "known", "unknown", "unknown"]);
  registry.delete("a");
  clock.now *= 2;
  await find("a");
  await find("a");
  expect(queues.slice(4)).toEqual(["known", "unknown"]);
});
