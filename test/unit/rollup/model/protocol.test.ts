/**
 * The rules of docs/rollups.md, explored exhaustively as a small model: see model.ts for what is
 * modelled. `--reporter verbose` prints the shortest trace to each fault that a rule prevents.
 */
import { describe, expect, it } from "vitest";
import { explore } from "./explore.ts";
import { type Property, RULES, type Rule, type Scenario } from "./model.ts";
import { SCENARIOS } from "./scenarios.ts";

type ScenarioName = keyof typeof SCENARIOS;

const everyRule = () => true;

describe("in every interleaving of", () => {
  it.each(Object.entries<Scenario>(SCENARIOS))("%s, all properties hold", (_, scenario) => {
    const { fault, states } = explore({ scenario, has: everyRule });
    expect(fault).toBe("");
    expect(states).toBeGreaterThan(100);
  });
});

/** For each rule, what goes wrong without it, and where. */
const FAULTS: Readonly<Record<Rule, readonly (readonly [Property, ScenarioName])[]>> = {
  margin: [["exact", "two writers within the margin, and a reader with cached sums"]],
  waiting: [["exact", "a transaction of any length that the account sees"]],
  "margin of the oldest": [
    ["exact", "a transaction of any length, whose statement had waited within the margin"],
  ],
  "clock first": [["exact", "a transaction of any length that the account sees"]],
  "covered by date": [["exact", "a rental whose end is set ahead, and changed before it comes"]],
  "news by date": [["exact", "charges that are dated ahead"]],
  "counted by watermark": [["built", "a provider that grows, and has enough rows for a rollup"]],
  check: [["healed", "two checks that find the same late charge"]],
  "adds up": [["exact", "a quarter hour that is changed"]],
  "own slot": [["exact", "two rebuilds"]],
  "one watermark": [["exact", "two first builds"]],
  "one snapshot": [["once", "two checks that find the same late charge"]],
  "same version": [
    ["once", "two checks that find the same late charge"],
    ["equal with cache", "two checks that find the same late charge"],
    ["exact", "two rebuilds"],
  ],
  "new version": [["equal with cache", "the database is restored"]],
  "not ahead": [
    ["exact while ahead", "a clock that jumps forward and back, and catches up"],
    ["healed", "a clock that jumps forward and back, and catches up"],
  ],
};

describe("the model finds a fault unless", () => {
  const faults = Object.entries(FAULTS).flatMap(([rule, places]) =>
    places.map(([property, name]) => [RULES[rule as Rule], property, name, rule] as const),
  );
  it.for(faults)("%s: %s, %s", async ([, property, name, rule], { annotate }) => {
    const scenario: Scenario = { ...SCENARIOS[name], properties: [property] };
    const { violated, fault } = explore({ scenario, has: (other) => other !== rule });
    expect(violated).toBe(property);
    await annotate(fault);
  });
});

/** Each breaks an assumption about writers or clocks, which no rule replaces. */
it.each<ScenarioName>([
  "a transaction of any length that nobody sees",
  "two checks that find the same late charge",
  "a covered charge that is deleted",
  "a covered rental that is written again",
  "a clock that jumps forward and back, and catches up",
])("%s: an answer may be wrong until a run has checked the rollup", (name) => {
  const scenario: Scenario = { ...SCENARIOS[name], properties: ["exact"] };
  expect(explore({ scenario, has: everyRule }).violated).toBe("exact");
});
