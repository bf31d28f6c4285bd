import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import {
  createFindKeys,
  type FindKeys,
  type IssuedKey,
  MAX_BATCH,
} from "../../../src/auth/key-lookup.ts";
import { createKeyQueue } from "../../../src/auth/key-queue.ts";
import { ServiceError } from "../../../src/errors.ts";
import { shareOf } from "../../../src/handler.ts";
import { providerKey } from "../../support/caller-key.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const valid: IssuedKey = { key: providerKey("7"), expiresAt: Infinity, revoked: false };

/** A queue over queries that the test ends; each batch is the names of its keys. */
function controlledQueue() {
  const batches: { names: string[]; signal: AbortSignal; end: PromiseWithResolvers<void> }[] = [];
  const findKeys: FindKeys = async (hashes, signal) => {
    const end = Promise.withResolvers<void>();
    batches.push({ names: hashes.map(String), signal, end });
    await end.promise;
    return new Map(hashes.map((hash) => [hash.toString("hex"), valid]));
  };
  const queue = createKeyQueue(findKeys);
  const outcome = (name: string, address = "a", signal = new AbortController().signal) =>
    queue(Buffer.from(name), { address, signal }).then(
      (found) => found && shareOf(found.key),
      (error) => (error instanceof ServiceError ? error.kind : error),
    );
  /** Ends a query, and starts the next one. */
  const end = (nth: number) => {
    batches[nth]?.end.resolve();
    return turn();
  };
  return { batches, outcome, end };
}

it("one query runs at a time; those that wait meanwhile share the next one", async () => {
  const { batches, outcome, end } = controlledQueue();
  outcome("first");
  await turn();
  const results = Array.from({ length: MAX_BATCH + 1 }, (_, index) => outcome(`k${index}`));
  await turn();
  expect(batches).toHaveLength(1);
  await end(0);
  expect(batches[1]?.names).toHaveLength(MAX_BATCH);
  await end(1);
  await end(2);
  expect(new Set(await Promise.all(results))).toEqual(new Set(["7"]));
  expect(batches).toHaveLength(3);
});

it("a batch takes from the addresses in turn", async () => {
  const { batches, outcome, end } = controlledQueue();
  outcome("first");
  await turn();
  for (let index = 0; index < 200; index++) outcome(`flood${index}`, "flooding");
  outcome("good", "other");
  await end(0);
  expect(batches[1]?.names.slice(0, 3)).toEqual(["flood0", "good", "flood1"]);
});

it("an address cannot take the places of the others, and the queue is bounded", async () => {
  const { batches, outcome, end } = controlledQueue();
  outcome("first");
  await turn();
  const results = ["flooding", "other"].map((address) => {
    const all = Array.from({ length: 1_000 }, (_, index) => outcome(`${index}`, address));
    return Promise.all(all.map((one) => Promise.race([one, turn("waits")])));
  });
  // Half of the places, and half of those that are left.
  for (const [nth, waits] of [500, 250].entries()) {
    const expected = [...Array(waits).fill("waits"), ...Array(1_000 - waits).fill("overloaded")];
    expect(await results[nth]).toEqual(expected);
  }
  await end(0);
  expect(batches).toHaveLength(2);
});

it("a query goes on if one of its callers leaves; one that leaves before its query costs none", async () => {
  const { batches, outcome, end } = controlledQueue();
  const [gone, goneBefore] = [new AbortController(), new AbortController()];
  const results = [outcome("k1", "a", gone.signal), outcome("k2")];
  await turn();
  expect(batches.map(({ names }) => names)).toEqual([["k1", "k2"]]);
  const before = outcome("k3", "a", goneBefore.signal);
  for (const caller of [gone, goneBefore]) caller.abort("gone");
  expect(await Promise.all([results[0], before])).toEqual(["gone", "gone"]);
  expect(await outcome("k4", "a", AbortSignal.abort("gone"))).toBe("gone");
  expect(batches[0]?.signal.aborted).toBe(false);
  await end(0);
  expect(await results[1]).toBe("7");
  await turn();
  expect(batches).toHaveLength(1);
});

it("a failed query fails its own lookups only", async () => {
  const { batches, outcome, end } = controlledQueue();
  const first = outcome("k1");
  await turn();
  const second = outcome("k2");
  batches[0]?.end.reject(new ServiceError("databaseUnavailable"));
  expect(await first).toBe("databaseUnavailable");
  await end(1);
  expect(await second).toBe("7");
});

it("a query that hangs holds the others up for two seconds", async () => {
  const { batches, outcome, end } = controlledQueue();
  outcome("k1");
  await turn();
  const second = outcome("k2");
  vi.advanceTimersByTime(1_999);
  await turn();
  expect(batches).toHaveLength(1);
  vi.advanceTimersByTime(1);
  await turn();
  expect(batches).toHaveLength(2);
  await end(1);
  expect(await second).toBe("7");
});

it("more keys than one query takes are refused, and none is left out", async () => {
  const keys = Array<Buffer>(MAX_BATCH + 1).fill(Buffer.alloc(32));
  const find = createFindKeys(() => Promise.resolve([] as never));
  const { signal } = new AbortController();
  await expect(find(keys, signal)).rejects.toThrow("more than 64 keys in a batch");
});
