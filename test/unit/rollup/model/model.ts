/**
 * What the model of rollups is made of. docs/rollups.md has the rules.
 *
 * Modelled: one provider; one clock, in ticks; transactions of writers, each of one row; a rollup and
 * a build beside it; runs, each step one snapshot or one short transaction, in any interleaving; a
 * restore of the database; a reader with cached sums; the rows that it takes for a rollup. Every prefix of an
 * interleaving is looked at, so a run that is killed is one that takes no further step.
 *
 * Not modelled: SQL; amounts and owners (each row is counted by itself, so that no two errors cancel
 * out); the length of leaves, and of increments; how an unused slot is emptied; slices of a check; formats;
 * replicas. Whether the code does what the model does is for the tests on a real database.
 */

/** The distance of the watermark from now, in ticks. */
export const MARGIN = 2;
/** The clock at the beginning: the watermark then lies inside the second leaf. */
export const START_TICK = 7;
/** The ends of the leaves. */
export const BOUNDARIES = [4, 8, 12, 16] as const;
/** Leaves have two quarter hours. */
export const QUARTER = 2;

/** What a writer has stored of a row. A charge has only a start: the instant that it is dated at. */
export interface Version {
  readonly start: number;
  /** The end of a rental; null while it is open. Not there for a charge. */
  readonly end?: number | null;
  /** `recorded_at` or `updated_at`. */
  readonly recorded: number;
}

/** A row of the ledger. */
export interface Row {
  /** What others see; null before the first commit, and after a deletion. */
  committed: Version | null;
  /** What an open transaction has written, when it began, and the index of its writer. */
  pending: { version: Version | null; began: number; writer: number } | null;
}

/**
 * How often each row is counted: at 2i row i as a charge or as the start of a rental, at 2i + 1 as the
 * end of a rental. Right are 0 and 1.
 */
export type Totals = number[];

/** *F(b)* at each stored boundary, in order. */
export type Sums = [boundary: number, totals: Totals][];

/** A row of `rollups`. */
export interface Rollup {
  slot: 0 | 1;
  version: number;
  watermark: number;
  /** The boundary from which the next step of a build compares. */
  next: number;
}

/** What is written in one transaction, as it was computed in an earlier snapshot. */
export interface Change {
  readonly kind: "begin" | "build" | "swap" | "refresh" | "check";
  /** The version of the rollup, or of the build, in that snapshot. */
  readonly version: number | undefined;
  readonly watermark: number;
  /** What the ledger has more than the rollup, by the boundary of the leaf. */
  readonly differences: Sums;
  readonly quarters: Sums;
  /** For a step of a build: where the next one begins. */
  readonly next: number;
  /** Whether this repairs what was wrong before. */
  readonly repairs: boolean;
}

/** A run between two of its steps. */
export interface Run {
  step: "begin" | "look" | "compute" | "write" | "done";
  /** The watermark to move to. */
  until: number;
  /** Whether it has found enough rows for a rollup, begun a build, or checked. */
  large: boolean;
  begun: boolean;
  checked: boolean;
  /** What it has computed, and not yet written. */
  change: Change | null;
  /** Sums that were read in an earlier snapshot: only if that rule is taken out. */
  slots: [Sums, Sums] | null;
}

/** What somebody does. */
export type Event =
  | "caches the sums"
  | "deletes the rows of rollups"
  | "restores the database"
  | "changes a quarter hour";

export interface State {
  rows: Row[];
  /** The rollup that is read, and the one that is built. */
  current: Rollup | null;
  building: Rollup | null;
  slots: [Sums, Sums];
  /** What the provider as a whole has of charges in each quarter hour, by their starts. */
  quarters: [Sums, Sums];
  now: number;
  jumped: "no" | "forward" | "back";
  /** By writer: whether it has begun. */
  begun: boolean[];
  runs: Run[];
  /** The watermark up to which rows were counted, and were too few: what runs of one process remember. */
  smallUpTo: number;
  /** The last version: it stands for random numbers, of which no two are equal. */
  versions: number;
  cached: { version: number; sums: Sums } | null;
  /** Of what happens once, what has. */
  happened: Event[];
  /** Whether a run has reported a repair. */
  reported: boolean;
}

/** A copy of a state that steps may change. What no step changes in place is shared. */
export function copyOf(state: State): State {
  return {
    ...state,
    rows: state.rows.map((row) => ({ ...row })),
    current: state.current && { ...state.current },
    building: state.building && { ...state.building },
    slots: [copyOfSums(state.slots[0]), copyOfSums(state.slots[1])],
    quarters: [copyOfSums(state.quarters[0]), copyOfSums(state.quarters[1])],
    begun: [...state.begun],
    runs: state.runs.map((run) => ({ ...run })),
    happened: [...state.happened],
  };
}

function copyOfSums(sums: Sums): Sums {
  return sums.map(([boundary, totals]) => [boundary, totals]);
}

/** What makes rollups right. Each rule can be taken out of the model. */
export const RULES = {
  margin: "the watermark stays behind the clock by the margin",
  waiting: "the watermark stays before open transactions that the account sees",
  "margin of the oldest": "it stays before the start of the oldest of them by the margin, too",
  "clock first": "a run reads the clock before it looks for open transactions",
  "covered by date": "no row is covered before the watermark has passed its date, or its end",
  "news by date": "a refresh compares leaves in which rows were dated or ended since the last one",
  "counted by watermark": "rows are counted again once one was recorded after the watermark",
  check: "a run compares the rollup with the ledger, whether or not there is news",
  "adds up": "an answer uses quarter hours only if these add up to what owners have",
  "own slot": "a build fills a slot of its own",
  "one watermark": "all steps of a build compare at the watermark with which it began",
  "one snapshot": "a change is computed from sums, version and rows of one snapshot",
  "same version": "changes and cached sums are used only with the version that they were read with",
  "new version": "a version never comes again, not even after a restore",
  "not ahead": "a watermark ahead of the clock is not trusted: not read, and built anew",
} as const;
export type Rule = keyof typeof RULES;
export type Has = (rule: Rule) => boolean;

/** What is asserted of every state. */
export const PROPERTIES = {
  exact: "every answer equals the ledger in its own snapshot",
  "exact while ahead": "every answer is exact while the watermark lies ahead of the clock",
  "equal with cache": "an answer with cached sums equals the one without, in the same snapshot",
  once: "the sums count no row twice, and none less than not at all",
  healed: "one complete run later, every answer is exact, the rollup is trusted, and it adds up",
  reported: "a run that makes a wrong answer right reports a repair",
  "no false alarm": "a run reports no repair while writers keep to the assumptions",
  built: "one complete run later, a provider with enough rows has a rollup",
} as const;
export type Property = keyof typeof PROPERTIES;

/** A transaction that writes one row once, and commits or never does. */
export interface Writer {
  readonly row: number;
  /** What it writes; null for a deletion. */
  readonly write: (recorded: number) => Version | null;
  /** Whether it can write, given the committed row. Default: yes. */
  readonly when?: (committed: Version | null, now: number) => boolean;
  /** How far in the past the recording time is, in ticks. Default: 0. */
  readonly late?: number;
  /**
   * How long the transaction may be open: less than the margin after its recording time, or any time,
   * and then whether the rollup's account sees it.
   */
  readonly open: "within margin" | "visible" | "hidden";
}

/** What a run does besides refreshes and builds. */
export type RunOptions = { readonly rebuild?: boolean; readonly check?: boolean };

/** Which interleavings are explored. */
export interface Scenario {
  /** The rows that are committed at the beginning, and places for others. */
  readonly rows: readonly (Version | null)[];
  readonly writers: readonly Writer[];
  /** Whether there is a rollup at the beginning. */
  readonly built: boolean;
  /** From how many rows on there is one. Default: 0. */
  readonly minRows?: number;
  readonly runs: readonly RunOptions[];
  /** How often the clock advances. */
  readonly ticks: number;
  /** By how many ticks the clock jumps forward once, and back once. Default: never. */
  readonly jump?: number;
  /** What may happen once. Default: nothing. */
  readonly once?: readonly Event[];
  readonly properties: readonly Property[];
}

/** A scenario, and the rules that are in it. */
export type Model = { readonly scenario: Scenario; readonly has: Has };
