/** Which checkpoints a list of the latest ones tells. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Row } from "../../../src/db/query.ts";
import { aroundIn, createCheckpoints } from "../../../src/revenue/breakdown/checkpoints.ts";
import { MAX_LATEST } from "../../../src/rollup/read/sql.ts";
import { END, START } from "../../../src/rollup/timeline.ts";

/** An instant: "2026-01-01 00:00:00.007" is the seventh. */
const instant = (ms: number) => `2026-01-01 00:00:00.${String(ms).padStart(3, "0")}`;
const ANY = fc.integer({ min: 0, max: 30 }).map(instant);

describe("a list of all checkpoints", () => {
  it("tells those around any instant", () => {
    fc.assert(
      fc.property(fc.uniqueArray(ANY, { maxLength: 20 }), ANY, (some, at) => {
        const checkpoints = [...some.toSorted(), END];
        expect(aroundIn(checkpoints, at)).toEqual({
          before: checkpoints.findLast((checkpoint) => checkpoint <= at) ?? "",
          after: checkpoints.find((checkpoint) => checkpoint > at),
        });
      }),
    );
  });

  it("tells those around the first and the last instant", () => {
    expect(aroundIn([instant(1), END], START)).toEqual({ before: "", after: instant(1) });
    expect(aroundIn([END], START)).toEqual({ before: "", after: END });
    expect(aroundIn([instant(1), END], END)).toMatchObject({ after: END });
  });
});

describe("a list of the latest checkpoints", () => {
  const latest = [...Array(MAX_LATEST - 1).keys()].map((ms) => instant(ms + 1));
  const checkpoints = [...latest, END].toSorted();

  it("tells those around an instant at or after the first of them", () => {
    const [first = "", second = ""] = checkpoints;
    expect(checkpoints).toHaveLength(MAX_LATEST);
    expect(aroundIn(checkpoints, first)).toEqual({ before: first, after: second });
    expect(aroundIn(checkpoints, "2026-12-31 00:00:00.000")).toMatchObject({ after: END });
  });

  it("does not tell those around an earlier instant", () => {
    expect(aroundIn(checkpoints, instant(0))).toBeUndefined();
    expect(aroundIn(checkpoints.slice(1), instant(0))).toEqual({ before: "", after: instant(2) });
  });
});

it("an empty list tells nothing", () => {
  expect(aroundIn([], instant(0))).toBeUndefined();
});

describe("the cache", () => {
  const { signal } = new AbortController();
  const edges = { start: instant(500), end: instant(501) };

  /** Checkpoints of rollups that all have `count` of them, and the number of statements. */
  function createCounted(count: number) {
    const around = ["0", "", END, "", END, instant(0)];
    const latest = Array.from({ length: count }, (_, index) =>
      index ? instant(count - index) : END,
    );
    const rows: Row[] = [around, ...latest.map((at) => ["1", at, null, null, null, null])];
    let statements = 0;
    const checkpoints = createCheckpoints(async () => {
      statements++;
      return rows;
    });
    return {
      ...checkpoints,
      async ask(provider: number) {
        const before = statements;
        await checkpoints.around(String(provider), edges, { signal });
        return statements - before;
      },
    };
  }

  it("asks once for each provider, until its list is forgotten", async () => {
    const { ask, forget } = createCounted(3);
    expect([await ask(1), await ask(1), await ask(2), await ask(2)]).toEqual([1, 0, 1, 0]);
    forget("1");
    expect([await ask(1), await ask(1), await ask(2)]).toEqual([1, 0, 0]);
  });

  it("asks each time for a provider without a rollup", async () => {
    const { ask } = createCounted(0);
    expect([await ask(1), await ask(1)]).toEqual([1, 1]);
  });

  it.each([
    // 200,000 checkpoints, of which each provider counts as 5.
    [1_000, 199],
    [14, 10_526],
    [1, 33_333],
  ])("with %i checkpoints each, keeps those of %i providers", async (count, providers) => {
    const { ask } = createCounted(count);
    for (let provider = 1; provider <= providers; provider++) await ask(provider);
    expect([await ask(1), await ask(providers)]).toEqual([0, 0]);
    await ask(providers + 1); // evicts the one that was used least recently
    expect([await ask(1), await ask(2)]).toEqual([0, 1]);
  });
});
