/** Which cached totals are kept when a rollup changes: those that are the same afterwards. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isStable, nextStability, type Stability } from "../../../src/rollup/stability.ts";
import { END } from "../../../src/rollup/timeline.ts";

const text = (stability: Stability | undefined) =>
  stability === undefined
    ? ""
    : [stability.since, stability.sinceWatermark, stability.until, stability.before].join(",");

/** A change of a rollup. */
interface Step {
  /** The first checkpoint that changes. Beyond the last one, only the watermark moves. */
  readonly first: number;
  readonly minutes: number;
  /** An older version of the command records nothing. */
  readonly records: boolean;
}

const [MARCH, APRIL, MAY] = ["2026-03-01", "2026-04-01", "2026-05-01"] as const;

describe("the stability after a change", () => {
  const current = { revision: 7, watermark: "12:00", stability: undefined };
  const known = { before: APRIL, since: 4, sinceWatermark: "09:00", until: 7 };

  it("reaches back to the state before it, if nothing is known about that", () => {
    const expected = { before: APRIL, since: 7, sinceWatermark: "12:00", until: 8 };
    expect(nextStability(current, 8, APRIL)).toEqual(expected);
    expect(nextStability(current, 8, undefined)).toEqual({ ...expected, before: END });
  });

  it("reaches back further if the first changed checkpoint is the same, or none", () => {
    const stability = { ...known, until: 8 };
    expect(nextStability({ ...current, stability: known }, 8, APRIL)).toEqual(stability);
    expect(nextStability({ ...current, stability: known }, 8, undefined)).toEqual(stability);
    expect(nextStability({ ...current, stability: known }, 7, undefined)).toEqual(known);
  });

  it.each([MARCH, MAY])("begins anew if the first changed checkpoint is another: %s", (before) => {
    const expected = { before, since: 7, sinceWatermark: "12:00", until: 8 };
    expect(nextStability({ ...current, stability: known }, 8, before)).toEqual(expected);
  });

  it("begins anew if an older version of the command has written since", () => {
    const expected = { before: APRIL, since: 7, sinceWatermark: "12:00", until: 8 };
    const stability = { ...known, until: 6 };
    expect(nextStability({ ...current, stability }, 8, APRIL)).toEqual(expected);
  });
});

describe("cached totals at a checkpoint", () => {
  const stability = { before: APRIL, since: 4, sinceWatermark: "09:00", until: 7 };
  const earlier = { generation: "2", revision: "5", watermark: "10:00" };
  const later = { generation: "2", revision: "7", watermark: "12:00", ahead: "" };

  it("are the same if it lies before what changed", () => {
    expect(isStable(earlier, later, text(stability), MARCH)).toBe(true);
  });

  it.each([
    ["it is the first that changed", {}, {}, stability, APRIL],
    ["it lies after that", {}, {}, stability, END],
    ["nothing is known", {}, {}, undefined, MARCH],
    ["an older version has written since", {}, {}, { ...stability, until: 6 }, MARCH],
    ["they are older than what is known", { revision: "3" }, {}, stability, MARCH],
    ["they are of an earlier watermark", { watermark: "08:59" }, {}, stability, MARCH],
    ["they are of a later revision", { revision: "8" }, {}, stability, MARCH],
    ["they are of a later watermark", { watermark: "12:01" }, {}, stability, MARCH],
    ["they are of another generation", { generation: "1" }, {}, stability, MARCH],
    ["there is no rollup any more", {}, { generation: "0", revision: "0" }, undefined, MARCH],
  ])("may have changed if %s", (_, changed, found, known, checkpoint) => {
    const state = { ...earlier, ...changed };
    expect(isStable(state, { ...later, ...found }, text(known), checkpoint)).toBe(false);
  });

  it("are the same if revisions are in order as numbers", () => {
    const tenth = { ...stability, since: 9, until: 11 };
    const [state, found] = [
      { ...earlier, revision: "10" },
      { ...later, revision: "11" },
    ];
    expect(isStable(state, found, text(tenth), MARCH)).toBe(true);
  });

  it("are the same whenever they are said to be, after any changes", () => {
    const checkpoints = [MARCH, APRIL, MAY, END];
    const step: fc.Arbitrary<Step> = fc.record({
      first: fc.integer({ min: 0, max: 5 }),
      minutes: fc.integer({ min: 0, max: 1 }),
      records: fc.integer({ min: 0, max: 4 }).map((number) => number > 0),
    });
    let kept = 0;
    const check = (steps: readonly Step[]) => {
      let [revision, minute, stability] = [8, 10, undefined as Stability | undefined];
      /** How often the totals at each checkpoint have changed. */
      let changes = [0, 0, 0, 0];
      const stateNow = () => ({
        ...{ generation: "1", revision: String(revision), watermark: String(minute), ahead: "" },
        changes,
      });
      const states = [stateNow()];
      for (const { first, minutes, records } of steps) {
        const next = revision + (first < checkpoints.length ? 1 : 0);
        if (records) {
          const current = { revision, watermark: String(minute), stability };
          stability = nextStability(current, next, checkpoints[first]);
        }
        changes = changes.map((count, nth) => count + (nth >= first ? 1 : 0));
        [revision, minute] = [next, minute + minutes];
        states.push(stateNow());
        for (const state of states) {
          for (const [nth, checkpoint] of checkpoints.entries()) {
            if (!isStable(state, stateNow(), text(stability), checkpoint)) continue;
            expect(changes[nth]).toBe(state.changes[nth]);
            kept++;
          }
        }
      }
    };
    fc.assert(fc.property(fc.array(step, { maxLength: 8 }), check), { numRuns: 2_000 });
    expect(kept).toBeGreaterThan(10_000);
  });
});
