import { describe, expect, it } from "vitest";
import type { UsedRollup } from "../../../src/rollup/coverage.ts";
import { createSumsCache, type SumsCache } from "../../../src/rollup/read/cache.ts";

/** Sums as the cache sees them: something of a number of rows. */
interface Sums {
  readonly name: string;
  readonly rows: number;
}

const OLD: UsedRollup = {
  version: "7",
  watermark: "2026-11-20 09:30:00.000",
};
const NEW: UsedRollup = { ...OLD, version: "3" };
const MAX_ROWS = 1_000;

const emptyCache = () =>
  createSumsCache<Sums>(
    ({ rows }) => rows,
    MAX_ROWS,
    (newer, older) => (newer.name === older.name ? newer : undefined),
  );
const named = (names: string, rows = 1) => [...names].map((name) => ({ name, rows }));
/** The names of the sums that are cached of a provider, the most recently used first. */
const cached = (cache: SumsCache<Sums>, provider: string) =>
  (cache.get(provider)?.sums ?? []).map(({ name }) => name).join("");

it("a cache of sums evicts those from before a change of the rollup, and those of no other provider", () => {
  const cache = emptyCache();
  cache.put("1", OLD, ...named("ab"));
  cache.put("2", OLD, ...named("x"));
  cache.put("1", NEW, ...named("c")); // a version is random, and may be smaller
  expect([cached(cache, "1"), cached(cache, "2")]).toEqual(["c", "x"]);
});

describe("a cache of sums evicts the least recently used", () => {
  it("of a provider, beyond sixteen", () => {
    const cache = emptyCache();
    cache.put("2", OLD, ...named("x"));
    const all = named("abcdefghijklmnopqr");
    // What is put again comes first, and is not there twice, also if it was read again.
    for (const sums of [...all, ...named("q")]) cache.put("1", OLD, sums);
    expect(cached(cache, "1")).toBe("qrponmlkjihgfedc");
    expect(cached(cache, "2")).toBe("x");
  });

  it("of a provider, beyond half of the rows", () => {
    const cache = emptyCache();
    for (const sums of named("abc", 200)) cache.put("1", OLD, sums);
    expect(cached(cache, "1")).toBe("cb");
    for (const sums of named("x", MAX_ROWS)) cache.put("2", OLD, sums);
    expect([cached(cache, "1"), cached(cache, "2")]).toEqual(["cb", ""]);
  });

  it("providers, beyond all rows", () => {
    const cache = emptyCache();
    for (const provider of "1234") cache.put(provider, OLD, ...named("a", 225));
    cache.get("1");
    cache.put("5", OLD, ...named("a", 225));
    const kept = [..."12345"].filter((provider) => cached(cache, provider) === "a");
    expect(kept).toEqual(["1", "3", "4", "5"]);
  });

  it("providers, even if their sums have no rows", () => {
    const cache = emptyCache();
    const providers = Array.from({ length: MAX_ROWS }, (_, index) => String(index));
    for (const provider of providers) cache.put(provider, OLD, ...named("a", 0));
    const kept = providers.filter((provider) => cached(cache, provider) === "a");
    expect(kept).toEqual(providers.slice(-kept.length));
    expect(kept.length).toBeLessThan(MAX_ROWS / 10);
  });
});
