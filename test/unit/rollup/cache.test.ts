/** What is remembered of rollups, and for how long. */
import { describe, expect, it } from "vitest";
import {
  createTotalsCache,
  isCurrent,
  type RollupState,
  type TotalsCache,
} from "../../../src/rollup/read/cache.ts";

/** A part as the cache sees it: something that fits or not, of so many rows. */
interface Part {
  readonly name: string;
  readonly rows: number;
}

const FIRST: RollupState = { generation: "1", watermark: "2026-11-20 09:30:00.000" };
const ADVANCED: RollupState = { ...FIRST, watermark: "2026-11-20 09:31:00.000" };
const REBUILT: RollupState = { ...FIRST, generation: "2" };

const empty = () => createTotalsCache<Part>(({ rows }) => rows);

function set(
  cache: TotalsCache<Part>,
  provider: string,
  name: string,
  { state = FIRST, rows = 1 } = {},
): void {
  cache.set(provider, { state, part: { name, rows } }, (part) => part.name === name);
}

/** Which of the parts of these names are remembered of a provider. */
const known = (cache: TotalsCache<Part>, provider: string, ...names: string[]) =>
  names.filter((name) => cache.get(provider, (part) => part.name === name));

describe("a cache of rollups", () => {
  it("knows nothing at first", () => {
    expect(empty().get("1", () => true)).toBeUndefined();
  });

  it("recalls the part that fits, with the state that it was read in", () => {
    const cache = empty();
    set(cache, "1", "a");
    set(cache, "1", "b");
    const a = cache.get("1", ({ name }) => name === "a");
    expect(a).toEqual({ state: FIRST, part: { name: "a", rows: 1 } });
    expect(cache.get("1", () => false)).toBeUndefined();
  });

  it("recalls what was remembered last where several parts fit", () => {
    const cache = empty();
    for (const name of ["a", "b"]) set(cache, "1", name);
    expect(cache.get("1", () => true)?.part.name).toBe("b");
  });

  it("keeps providers apart", () => {
    const cache = empty();
    set(cache, "1", "a");
    set(cache, "2", "b", { state: ADVANCED });
    expect([known(cache, "1", "a", "b"), known(cache, "2", "a", "b")]).toEqual([["a"], ["b"]]);
  });
});

describe("is forgotten:", () => {
  it.each([
    ["advanced", ADVANCED],
    ["was built anew", REBUILT],
  ])("what was read before the rollup %s, once something newer is remembered", (_, state) => {
    const cache = empty();
    for (const name of ["a", "b"]) set(cache, "1", name);
    set(cache, "1", "c", { state });
    set(cache, "1", "d", { state });
    expect(known(cache, "1", "a", "b", "c", "d")).toEqual(["c", "d"]);
  });

  it("what was remembered for the same before", () => {
    const cache = empty();
    for (const rows of [1, 2]) set(cache, "1", "a", { rows });
    set(cache, "1", "b");
    let seen = 0;
    cache.get("1", () => ++seen < 0);
    expect(seen).toBe(2);
    expect(cache.get("1", ({ name }) => name === "a")?.part.rows).toBe(2);
  });

  it("the ninth part of a provider, those that were not asked for longest before others", () => {
    const cache = empty();
    for (const name of "abcdefgh") set(cache, "1", name);
    known(cache, "1", "a");
    for (const name of "ij") set(cache, "1", name);
    expect(known(cache, "1", ..."abcdefghij").join("")).toBe("adefghij");
  });

  it("what of a provider is more than 50,000 rows, the newest part last", () => {
    const cache = empty();
    for (const name of "abc") set(cache, "1", name, { rows: 20_000 });
    expect(known(cache, "1", ..."abc")).toEqual(["b", "c"]);
  });

  it("the ninth part of a provider, those that were remembered first before others", () => {
    const cache = empty();
    const names = [..."abcdefghij"];
    for (const name of names) set(cache, "1", name);
    set(cache, "2", "a");
    expect(known(cache, "1", ...names).join("")).toBe("cdefghij");
    expect(known(cache, "2", "a")).toEqual(["a"]);
  });

  it("where there are too many rows in all, the provider that did not ask for longest", () => {
    const cache = empty();
    for (const provider of "1234") set(cache, provider, "a", { rows: 45_000 });
    known(cache, "1", "a");
    set(cache, "5", "a", { rows: 45_000 });
    const kept = [..."12345"].filter((provider) => known(cache, provider, "a").length > 0);
    expect(kept).toEqual(["1", "3", "4", "5"]);
  });

  it("very many small providers' parts, the oldest first", () => {
    const cache = empty();
    const providers = Array.from({ length: 200_001 }, (_, index) => String(index));
    for (const provider of providers) set(cache, provider, "a", { rows: 0 });
    const kept = providers.findIndex((provider) => known(cache, provider, "a").length > 0);
    expect(kept).toBeGreaterThan(0);
    expect(known(cache, providers.at(-1) as string, "a")).toEqual(["a"]);
  });

  it("a part that alone has too many rows, and no other provider's", () => {
    const cache = empty();
    set(cache, "1", "a");
    set(cache, "2", "b", { rows: 1_000_000 });
    expect([known(cache, "1", "a"), known(cache, "2", "b")]).toEqual([["a"], []]);
  });
});

describe("a remembered part still stands", () => {
  const remembered = { state: FIRST, part: undefined };
  it.each<[string, RollupState[], boolean]>([
    ["where an answer saw the same rollup", [{ ...FIRST }], true],
    ["but not where it was advanced", [ADVANCED], false],
    ["nor where it was built anew, up to the same watermark", [REBUILT], false],
    ["nor where there is none any more", [{ generation: "0", watermark: "1000-01-01" }], false],
    ["nor where an answer says nothing of it", [], false],
  ])("%s", (_, seen, expected) => {
    expect(isCurrent(remembered, seen)).toBe(expected);
  });
});
