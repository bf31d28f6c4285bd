import { describe, expect, it } from "vitest";
import type { UsedRollup } from "../../../src/rollup/coverage.ts";
import {
  type Cached,
  createTotalsCache,
  isCurrent,
  type TotalsCache,
} from "../../../src/rollup/read/cache.ts";

/** Totals as the cache sees them: something that fits or not, of a number of rows. */
interface Totals {
  readonly name: string;
  readonly rows: number;
}

const FIRST: UsedRollup = {
  generation: "1",
  watermark: "2026-11-20 09:30:00.000",
  revision: "7",
  ahead: "",
};
const REFRESHED: UsedRollup = { ...FIRST, watermark: "2026-11-20 09:31:00.000" };
const REBUILT: UsedRollup = { ...FIRST, generation: "2" };
const REPAIRED: UsedRollup = { ...FIRST, revision: "8" };
const NONE = { ...FIRST, generation: "0", watermark: "1000-01-01 00:00:00.000", revision: "0" };

const emptyCache = () => createTotalsCache<Totals>(({ rows }) => rows);

function set(
  cache: TotalsCache<Totals>,
  provider: string,
  name: string,
  { state = FIRST, rows = 1 } = {},
): void {
  cache.set(provider, { state, totals: { name, rows } }, (totals) => totals.name === name);
}

/** Those of the names that are cached for a provider. */
const cached = (cache: TotalsCache<Totals>, provider: string, ...names: string[]) =>
  names.filter((name) => cache.get(provider, (totals) => totals.name === name));

describe("a totals cache", () => {
  it("is empty at first", () => {
    expect(emptyCache().get("1", () => true)).toBeUndefined();
  });

  it("returns the totals that fit, with the state that they were read from", () => {
    const cache = emptyCache();
    set(cache, "1", "a");
    set(cache, "1", "b");
    const a = cache.get("1", ({ name }) => name === "a");
    expect(a).toEqual({ state: FIRST, totals: { name: "a", rows: 1 } });
    expect(cache.get("1", () => false)).toBeUndefined();
  });

  it("returns the latest entry if several fit", () => {
    const cache = emptyCache();
    for (const name of ["a", "b"]) set(cache, "1", name);
    expect(cache.get("1", () => true)?.totals.name).toBe("b");
  });

  it("keeps providers apart", () => {
    const cache = emptyCache();
    set(cache, "1", "a");
    set(cache, "2", "b", { state: REFRESHED });
    expect([cached(cache, "1", "a", "b"), cached(cache, "2", "a", "b")]).toEqual([["a"], ["b"]]);
  });
});

describe("a totals cache evicts", () => {
  it.each([
    ["refreshed", REFRESHED],
    ["rebuilt", REBUILT],
  ])("entries from before the rollup was %s, when a newer one is added", (_, state) => {
    const cache = emptyCache();
    for (const name of ["a", "b"]) set(cache, "1", name);
    set(cache, "1", "c", { state });
    set(cache, "1", "d", { state });
    expect(cached(cache, "1", "a", "b", "c", "d")).toEqual(["c", "d"]);
  });

  it("the entry that a new one replaces", () => {
    const cache = emptyCache();
    for (const rows of [1, 2]) set(cache, "1", "a", { rows });
    set(cache, "1", "b");
    const seen: string[] = [];
    cache.get("1", ({ name }) => seen.push(name) < 0);
    expect(seen).toEqual(["b", "a"]);
    expect(cache.get("1", ({ name }) => name === "a")?.totals.rows).toBe(2);
  });

  it("all but sixteen entries of a provider, the least recently used first", () => {
    const cache = emptyCache();
    for (const name of "abcdefghijklmnop") set(cache, "1", name);
    cached(cache, "1", "a");
    for (const name of "qr") set(cache, "1", name);
    expect(cached(cache, "1", ..."abcdefghijklmnopqr").join("")).toBe("adefghijklmnopqr");
  });

  it("no entry of another provider with them", () => {
    const cache = emptyCache();
    set(cache, "2", "a");
    for (const name of "abcdefghijklmnopqr") set(cache, "1", name);
    expect(cached(cache, "1", ..."abcdefghijklmnopqr").join("")).toBe("cdefghijklmnopqr");
    expect(cached(cache, "2", "a")).toEqual(["a"]);
  });

  it("entries of a provider beyond half of the rows, the oldest first", () => {
    const cache = emptyCache();
    for (const name of "abc") set(cache, "1", name, { rows: 40_000 });
    expect(cached(cache, "1", ..."abc")).toEqual(["b", "c"]);
  });

  it("providers beyond 200,000 rows, the least recently used first", () => {
    const cache = emptyCache();
    for (const provider of "1234") set(cache, provider, "a", { rows: 45_000 });
    cached(cache, "1", "a");
    set(cache, "5", "a", { rows: 45_000 });
    const kept = [..."12345"].filter((provider) => cached(cache, provider, "a").length > 0);
    expect(kept).toEqual(["1", "3", "4", "5"]);
  });

  it("providers beyond 18,181, even if their totals have no rows: each weighs 11", () => {
    const cache = emptyCache();
    const providers = Array.from({ length: 20_000 }, (_, index) => String(index));
    for (const provider of providers) set(cache, provider, "a", { rows: 0 });
    const kept = providers.filter((provider) => cached(cache, provider, "a").length > 0);
    expect(kept).toEqual(providers.slice(-Math.floor(200_000 / 11)));
  });

  it("providers beyond another number of rows, if there is one", () => {
    const cache = createTotalsCache<Totals>(({ rows }) => rows, 400_000);
    for (const provider of "12345") set(cache, provider, "a", { rows: 90_000 });
    const kept = [..."12345"].filter((provider) => cached(cache, provider, "a").length > 0);
    expect(kept).toEqual(["2", "3", "4", "5"]);
  });

  it("an entry that is too large by itself, and no other provider's", () => {
    const cache = emptyCache();
    set(cache, "1", "a");
    set(cache, "2", "b", { rows: 1_000_000 });
    expect([cached(cache, "1", "a"), cached(cache, "2", "b")]).toEqual([["a"], []]);
  });
});

describe("cached totals", () => {
  const entry = { state: FIRST, totals: undefined };
  it.each<[string, UsedRollup, boolean]>([
    ["are current if the statement found the same state", { ...FIRST }, true],
    ["are outdated after a refresh", REFRESHED, false],
    ["are outdated after a rebuild up to the same watermark", REBUILT, false],
    ["are outdated after a repair of the same generation", REPAIRED, false],
    ["are outdated if there is no rollup", NONE, false],
  ])("%s", (_, found, expected) => {
    expect(isCurrent(entry, found)).toBe(expected);
  });

  it("are removed alone, and only if they are still there", () => {
    const cache = emptyCache();
    for (const name of ["a", "b"]) set(cache, "1", name);
    const a = cache.get("1", ({ name }) => name === "a");
    if (a) cache.evict("1", a);
    expect(cached(cache, "1", "a", "b")).toEqual(["b"]);
    set(cache, "1", "a", { rows: 2 });
    if (a) cache.evict("1", a); // another entry has taken its place
    expect(cached(cache, "1", "a", "b")).toEqual(["a", "b"]);
  });
});

describe("when the rollup moves on", () => {
  const rest = ["a", "b", "c"];
  const isOneOf = (names: string) => (entry: Cached<Totals>) => names.includes(entry.totals.name);

  it("stable totals become those of the new state, and the others are evicted", () => {
    const cache = emptyCache();
    for (const name of rest) set(cache, "1", name);
    set(cache, "2", "b");
    cache.revalidate("1", REPAIRED, isOneOf("ac"));
    expect([cached(cache, "1", ...rest), cached(cache, "2", "b")]).toEqual([["a", "c"], ["b"]]);
    expect(cache.get("1", () => true)?.state).toEqual(REPAIRED);
    expect(cache.get("2", () => true)?.state).toEqual(FIRST);
  });

  it("all go if none is stable, and none if the state is the same", () => {
    const cache = emptyCache();
    for (const name of rest) set(cache, "1", name);
    cache.revalidate("1", { ...FIRST }, isOneOf(""));
    expect(cached(cache, "1", ...rest)).toEqual(rest);
    cache.revalidate("1", REPAIRED, isOneOf(""));
    expect(cached(cache, "1", ...rest)).toEqual([]);
  });

  it("an entry that a call still has is evicted by its totals", () => {
    const cache = emptyCache();
    set(cache, "1", "a");
    const a = cache.get("1", () => true) as Cached<Totals>;
    cache.revalidate("1", REPAIRED, isOneOf("a"));
    cache.evict("1", a);
    expect(cached(cache, "1", "a")).toEqual([]);
  });
});

it("of several totals that fit, those of the largest order are used", () => {
  const cache = emptyCache();
  for (const name of ["b", "c", "a"]) set(cache, "1", name);
  const found = (names: string, order?: (totals: Totals) => string) =>
    cache.get("1", ({ name }) => names.includes(name), order)?.totals.name;
  expect(found("ab", ({ name }) => name)).toBe("b");
  expect(found("abc", ({ name }) => name)).toBe("c");
  expect(found("ab")).toBe("b"); // the most recently used
});
