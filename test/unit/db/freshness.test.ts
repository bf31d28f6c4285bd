import { expect, it } from "vitest";
import { createFreshness, StaleAnswer } from "../../../src/db/freshness.ts";

const NOW = Date.UTC(2026, 10, 20, 9, 30);

/** The outcome of a snapshot: its instant in ms after `NOW`, or the reason of its refusal. */
function judging(maxLag = 10_000) {
  const ages: number[] = [];
  const freshness = createFreshness(maxLag, (age) => ages.push(age));
  const judge = (instant: number, heartbeat: number, { owner = "1", server = "a" } = {}) => {
    const snapshot = { instant: NOW + instant, heartbeat: NOW + heartbeat, server };
    try {
      return freshness.judge(owner, snapshot) - NOW;
    } catch (error) {
      if (!(error instanceof StaleAnswer)) throw error;
      return error.forEverybody ? "too old" : "older than before";
    }
  };
  return { ...freshness, judge, ages };
}

it("an answer holds as of its heartbeat, or the node's clock if that is behind it", () => {
  const { judge } = judging();
  expect(judge(0, -400)).toBe(-400);
  expect(judge(100, 150)).toBe(100);
});

it("an answer is too old if its heartbeat is older than the limit", () => {
  const { judge } = judging();
  expect([judge(0, -10_001), judge(0, -10_000)]).toEqual(["too old", -10_000]);
});

it("an answer without a heartbeat is too old, and says what to run", () => {
  const { judge } = createFreshness(10_000);
  const snapshot = { instant: NOW, heartbeat: Number.NaN, server: "a" };
  expect(() => judge("1", snapshot)).toThrow("run `npm run rollup -- --watch`");
});

it("the age of every answer is reported, also of those that are too old", () => {
  const { judge, ages } = judging();
  judge(0, -400);
  judge(0, -20_000);
  judge(0, 30);
  expect(ages).toEqual([400, 20_000, -30]);
});

it("an owner's answers never go back in time, whatever other owners got", () => {
  const { judge } = judging();
  expect(judge(0, -400)).toBe(-400);
  expect(judge(10, -401, { server: "b" })).toBe("older than before");
  expect(judge(20, -401, { owner: "2", server: "b" })).toBe(-401);
  expect(judge(30, -400, { server: "b" })).toBe(-400);
});

it("an answer from a clock that was ahead does not hold up the answers after it for ever", () => {
  const { judge } = judging();
  expect(judge(3_600_000, 3_600_000)).toBe(3_600_000);
  expect(judge(0, 0)).toBe(0);
});

it("the node of an owner's newest answer is known", () => {
  const { judge, serverOf } = judging();
  expect(serverOf("1")).toBeUndefined();
  judge(0, -400);
  judge(10, -500, { server: "b" });
  expect([serverOf("1"), serverOf("2")]).toEqual(["a", undefined]);
});
