/**
 * The protocol of writers, watermark, refresh, build, check and answers, explored exhaustively as a
 * small model: see state.ts for what is modelled. `--reporter verbose` prints the shortest trace to
 * each fault that a cure prevents.
 */
import { describe, expect, it } from "vitest";
import { explore, formatFault } from "./explore.ts";
import { CURES, type Cure, type Property, type Scenario } from "./model.ts";
import { SCENARIOS } from "./scenarios.ts";

type ScenarioName = keyof typeof SCENARIOS;

const everyCure = () => true;

describe("in every interleaving of", () => {
  it.each(Object.entries<Scenario>(SCENARIOS))("%s, all properties hold", (title, scenario) => {
    const result = explore({ scenario, has: everyCure });
    expect(result.violated, formatFault(result, title)).toBeUndefined();
    expect(result.states).toBeGreaterThan(100);
  });
});

/** For each cure, what goes wrong without it, and where. */
const FAULTS: Readonly<Record<Cure, readonly [Property, ScenarioName]>> = {
  margin: ["exact", "two writers within the margin, one on a node whose clock lags"],
  waiting: ["exact", "a transaction of any length that the account sees"],
  "clock before transactions": ["exact", "a transaction of any length that the account sees"],
  "never back": ["never back", "two writers within the margin, one on a node whose clock lags"],
  "one snapshot of a refresh": ["exact", "the row of rollups is deleted"],
  "refresh compares generation": ["exact", "the row of rollups is deleted"],
  "refresh compares watermark": [
    "never back",
    "two writers within the margin, one on a node whose clock lags",
  ],
  "refresh compares revision": ["once", "two checks that find the same late charge"],
  lookback: ["refresh finds late rows", "a transaction of any length that nobody sees"],
  check: ["healed", "a late charge in the edge of a cached period"],
  "revision of a change": ["equal with cache", "two checks that find the same late charge"],
  "ends wait": ["exact", "a rental whose end is set ahead, and changed before it comes"],
  "list of rentals": ["exact", "a covered rental that is written again"],
  "listed with its start": [
    "exact",
    "a rental that is written again while it is covered by a first build",
  ],
  "build beside": ["exact", "two rebuilds"],
  "fixed watermark": ["exact", "the row of rollups is deleted during a first build"],
  "build compares generation": ["never back", "two rebuilds"],
  "build compares watermark": ["exact", "the row of rollups is deleted during a first build"],
  "build compares checkpoint": ["exact", "the row of rollups is deleted during a first build"],
  "build anew if ahead": ["healed", "a clock that jumps during two runs"],
  "restart if ahead": ["healed", "a clock that jumps during a first build"],
  distrust: ["exact while ahead", "a clock that jumps during two runs"],
  "cache distrusts": ["equal with cache", "a clock that jumps forward and back, and catches up"],
  "one snapshot of an answer": [
    "exact",
    "a writer within the margin, and a reader with cached totals",
  ],
  "cache compares generation": [
    "equal with cache",
    "the row of rollups is deleted, and a charge is late",
  ],
  "cache compares watermark": ["equal with cache", "a late charge in the edge of a cached period"],
  "cache compares revision": ["equal with cache", "two checks that find the same late charge"],
  stability: ["equal with cache", "two checks that find the same late charge"],
  "edges verified": ["equal with cache", "a late charge in the edge of a cached period"],
};

it.for(Object.entries(FAULTS).map(([cure, fault]) => [CURES[cure as Cure], cure, fault] as const))(
  "the model finds a fault unless %s",
  async ([text, cure, [property, name]], { annotate }) => {
    const scenario: Scenario = { ...SCENARIOS[name], properties: [property] };
    const result = explore({ scenario, has: (other) => other !== cure });
    expect(result.violated).toBe(property);
    await annotate(formatFault(result, `unless ${text}`));
  },
);

/** Each breaks an assumption about writers or clocks, which no cure replaces. */
it.each<ScenarioName>([
  "a transaction of any length that nobody sees",
  "two checks that find the same late charge",
  "a late charge in the edge of a cached period",
  "a covered charge that is deleted",
  "a clock that jumps forward and back, and catches up",
])("%s: an answer may be wrong until a run has checked the rollup", (name) => {
  const scenario: Scenario = { ...SCENARIOS[name], properties: ["exact"] };
  expect(explore({ scenario, has: everyCure }).violated).toBe("exact");
});
