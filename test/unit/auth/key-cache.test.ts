import { expect, it } from "vitest";
import { cacheKeys } from "../../../src/auth/key-cache.ts";
import type { IssuedKey, KeyLookup } from "../../../src/auth/key-lookup.ts";

const SIGNAL = new AbortController().signal;
const hash = (key: number) => Buffer.from([key]);

/** A memory over a registry that the test may change, with a clock that the test moves. */
function remembering() {
  const registry = new Map<number, IssuedKey>();
  const state = { now: 0, asked: 0 };
  const lookup: KeyLookup = async (keyHash) => {
    state.asked++;
    return registry.get(keyHash[0] ?? 0);
  };
  const remembered = cacheKeys(lookup, () => state.now);
  return { registry, state, find: (key: number) => remembered(hash(key), SIGNAL) };
}

const issued = (providerId: string, revoked = false): IssuedKey => ({
  providerId,
  expiresAt: Infinity,
  revoked,
});

it("a key is asked for once in half a second", async () => {
  const { registry, state, find } = remembering();
  registry.set(1, issued("7"));
  expect(await find(1)).toEqual(issued("7"));
  state.now = 499;
  expect(await find(1)).toEqual(issued("7"));
  expect(state.asked).toBe(1);
  state.now = 500;
  await find(1);
  expect(state.asked).toBe(2);
});

it("a revocation counts after half a second at the latest", async () => {
  const { registry, state, find } = remembering();
  registry.set(1, issued("7"));
  await find(1);
  registry.set(1, issued("7", true));
  state.now = 500;
  expect(await find(1)).toEqual(issued("7", true));
});

it("many calls at the half second are one question, and a revocation counts within a second", async () => {
  const answer = Promise.withResolvers<IssuedKey>();
  const state = { now: 0, asked: 0 };
  const slow: KeyLookup = async () => (++state.asked === 1 ? issued("7") : answer.promise);
  const find = cacheKeys(slow, () => state.now);
  await find(hash(1), SIGNAL);
  state.now = 500;
  const asking = find(hash(1), SIGNAL);
  for (let i = 0; i < 200; i++) expect(await find(hash(1), SIGNAL)).toEqual(issued("7"));
  expect(state.asked).toBe(2);
  state.now = 900;
  const late = find(hash(1), SIGNAL);
  expect(state.asked).toBe(3);
  answer.resolve(issued("7", true));
  expect(await Promise.all([asking, late])).toEqual([issued("7", true), issued("7", true)]);
});

it("a key whose lookup failed is asked for by the next call", async () => {
  const state = { now: 0, asked: 0 };
  const failing: KeyLookup = async () => {
    if (++state.asked === 2) throw new Error("away");
    return issued("7");
  };
  const find = cacheKeys(failing, () => state.now);
  await find(hash(1), SIGNAL);
  state.now = 500;
  await expect(find(hash(1), SIGNAL)).rejects.toThrow("away");
  expect(await find(hash(1), SIGNAL)).toEqual(issued("7"));
  expect(state.asked).toBe(3);
});

it("a key that was not found is asked for again, so that a new one counts at once", async () => {
  const { registry, find } = remembering();
  expect(await find(1)).toBeUndefined();
  registry.set(1, issued("7"));
  expect(await find(1)).toEqual(issued("7"));
});

it("keys are not taken for one another", async () => {
  const { registry, find } = remembering();
  registry.set(1, issued("7"));
  registry.set(2, issued("8"));
  await find(1);
  expect(await find(2)).toEqual(issued("8"));
  expect(await find(1)).toEqual(issued("7"));
});

it("the oldest of very many is forgotten", async () => {
  let asked = 0;
  const many = Array.from({ length: 10_001 }, (_, index) => Buffer.from(`key ${index}`));
  const lookup: KeyLookup = async () => {
    asked++;
    return issued("7");
  };
  const remembered = cacheKeys(lookup, () => 0);
  for (const key of many) await remembered(key, SIGNAL);
  await remembered(many.at(-1) as Buffer, SIGNAL);
  expect(asked).toBe(10_001);
  await remembered(many[0] as Buffer, SIGNAL);
  expect(asked).toBe(10_002);
});
