/** What a model is made of: its writers and runs, and the cures that can be taken out of it. */
import type { State, Version } from "./state.ts";

/** A transaction that writes one row once, and commits or never does. */
export interface Writer {
  readonly row: number;
  /** What it writes; null for a deletion. */
  readonly write: (recorded: number, committed: Version | null) => Version | null;
  /** Whether it can write, given the committed row. Default: yes. */
  readonly when?: (committed: Version | null, now: number) => boolean;
  /** By how much the clock of its node is behind, in ticks. Default: 0. */
  readonly lag?: number;
  /**
   * How long its transaction may be open: less than the margin after its recording time, or any
   * time, and then whether the rollup's account sees it.
   */
  readonly open: "within margin" | "visible" | "hidden";
}

/** What a run does besides refreshes and the first build. */
export interface RunOptions {
  readonly rebuild?: boolean;
  readonly check?: boolean;
}

/** Which interleavings are explored. */
export interface Scenario {
  /** The rows that are committed at the beginning, and places for others. */
  readonly rows: readonly (Version | null)[];
  readonly writers: readonly Writer[];
  /** Whether there is a rollup at the beginning. */
  readonly built: boolean;
  readonly runs: readonly RunOptions[];
  /** How often the clock advances. */
  readonly ticks: number;
  /** By how many ticks the clock jumps forward once, and back once. Default: never. */
  readonly jump?: number;
  /** Whether a reader caches totals once. Default: no. */
  readonly cache?: boolean;
  /** Whether the row of `rollups` may be deleted once. Default: no. */
  readonly deletion?: boolean;
  readonly properties: readonly Property[];
}

/** What is asserted of every state, and of every step that leads to it. */
export const PROPERTIES = {
  exact: "every answer equals the ledger in its own snapshot",
  "exact while ahead": "every answer is exact while the watermark lies ahead of the clock",
  "equal with cache": "an answer with cached totals equals the one without, in the same snapshot",
  "never back": "the generation never goes back, nor the watermark of a generation",
  "never trusted ahead": "no answer uses a watermark ahead of the clock",
  once: "the totals of a current rollup count no row twice, and none less than not at all",
  healed: "one complete run later, every answer is exact and the rollup is trusted",
  reported: "a run that makes a wrong answer right reports a repair",
  "refresh finds late rows": "a refresh adds late rows that lie within its lookback",
} as const;
export type Property = keyof typeof PROPERTIES;

/** What makes the protocol right. Each can be taken out of the model. */
export const CURES = {
  margin: "the watermark stays behind the clock by the margin",
  waiting: "the watermark stays before open transactions that have written",
  "clock before transactions": "the clock is read before the open transactions are",
  "never back": "a refresh to an earlier watermark does nothing",
  "one snapshot of a refresh": "a refresh reads its rollup and the ledger in one snapshot",
  "refresh compares generation": "a change is written only to the generation it was computed from",
  "refresh compares watermark": "a change is written only at the watermark it was computed from",
  "refresh compares revision": "a change is written only at the revision it was computed from",
  lookback: "a refresh looks for rows that were recorded shortly before its old watermark",
  check: "a run compares its rollup with the ledger, whether or not there is news",
  "revision of a change": "a change of the totals increases the revision",
  "ends wait": "a rental is not covered before the watermark has passed its end",
  "list of rentals": "a rental that the rollup lists stays covered when it is written again",
  "listed with its start": "a build lists a rental with the segment of its start",
  "build beside": "a build becomes the current generation with its last segment",
  "fixed watermark": "all segments of a build have the watermark with which it began",
  "build compares generation": "a segment is written only to the build in progress",
  "build compares watermark": "a segment is written only at the watermark of the build in progress",
  "build compares checkpoint": "a segment is written only after the last checkpoint of the build",
  "build anew if ahead": "a rollup whose watermark lies ahead of the clock is built again",
  "restart if ahead": "a build whose watermark lies ahead of the clock is begun again",
  distrust: "an answer does not use a rollup whose watermark lies ahead of the clock",
  "cache distrusts": "an answer does not use cached totals whose watermark lies ahead of the clock",
  "one snapshot of an answer": "an answer reads watermark, totals and rows in one snapshot",
  "cache compares generation": "cached totals are used only with the generation they came from",
  "cache compares watermark": "cached totals are used only with the watermark they came from",
  "cache compares revision": "cached totals are used only with the revision they came from",
  stability: "totals that outlast a revision are those that it did not change",
  "edges verified": "charges that cached totals took from the ledger are added up again",
} as const;
export type Cure = keyof typeof CURES;

/** A scenario, and the cures that are in it. */
export interface Model {
  readonly scenario: Scenario;
  readonly has: (cure: Cure) => boolean;
}

/** A step that can be taken in a state. `take` changes the state. */
export interface Step {
  readonly name: string;
  readonly take: (state: State) => void;
}
