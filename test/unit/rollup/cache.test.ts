import { describe, expect, it } from "vitest";
import { createSumsCache, type SumsCache } from "../../../src/rollup/read/cache.ts";
import type { CurrentRollup } from "../../../src/rollup/read/facts.ts";

const OLD: CurrentRollup = {
  version: "7",
  watermark: "2026-11-20 09:30:00.000",
  slot: "0",
  leaf: "P1D",
};
const NEW: CurrentRollup = { ...OLD, version: "3" };
const MAX_ROWS = 1_000;

/** Sums as the cache sees them: something of a number of rows. */
const emptyCache = () => createSumsCache<number>((rows) => rows, MAX_ROWS);
const put = (
  cache: SumsCache<number>,
  provider: string,
  places: string,
  rows = 1,
  rollup = OLD,
) => {
  for (const place of places) cache.put(provider, rollup, place, rows);
};
/** The places that are cached of a provider, each of which is used by that. */
const cached = (cache: SumsCache<number>, provider: string, places: string, rollup = OLD) =>
  [...places].filter((place) => cache.get(provider, rollup, place) !== undefined).join("");

it("a cache of sums has those of a provider and of a version of its rollup", () => {
  const cache = emptyCache();
  put(cache, "1", "ab");
  put(cache, "2", "x");
  expect(cached(cache, "1", "ab", NEW)).toBe("");
  put(cache, "1", "c", 1, NEW); // a version is random, and may be smaller
  expect([cached(cache, "1", "abc", NEW), cached(cache, "1", "abc")]).toEqual(["c", "ab"]);
  expect([cached(cache, "2", "abx"), cached(cache, "1", "x")]).toEqual(["x", ""]);
});

describe("a cache of sums evicts the least recently used", () => {
  it("beyond all rows", () => {
    const cache = emptyCache();
    for (const provider of "1234") put(cache, provider, "a", 225);
    cached(cache, "1", "a");
    put(cache, "5", "a", 225);
    const kept = [..."12345"].filter((provider) => cached(cache, provider, "a") === "a");
    expect(kept).toEqual(["1", "3", "4", "5"]);
  });

  it("even if they have no rows", () => {
    const cache = emptyCache();
    const providers = Array.from({ length: MAX_ROWS }, (_, index) => String(index));
    for (const provider of providers) put(cache, provider, "a", 0);
    const kept = providers.filter((provider) => cached(cache, provider, "a") === "a");
    expect(kept).toEqual(providers.slice(-kept.length));
    expect(kept).toHaveLength(MAX_ROWS / 10);
  });
});
