/**
 * The state of the model of rollups, and its ledger.
 *
 * What is modelled: one provider; one clock, in ticks; writers whose transactions get a recording
 * time at their first write and commit later; a rollup with one checkpoint and END, months, list of
 * rentals, watermark, generation, revision and stability; runs that refresh, build, purge and check, each step
 * one snapshot or one short transaction, in any interleaving; answers with and without cached totals.
 * Every prefix of an interleaving is looked at, so a run that is killed is one that takes no
 * further step. A run refreshes whether or not there is news: a superset of what the code does.
 *
 * What is not: SQL and its plans; amounts and owners (each row is counted by itself, so that no two
 * errors cancel out); several months; splits of segments; slices of a check and when they are due;
 * replicas; a purge of which only some statements were run; edges that are verified only once a
 * second. Whether the code does what the model does is for the tests on a real database.
 */

import type { Stability } from "../../../../src/rollup/stability.ts";

/** The distance of the watermark from now, in ticks. */
export const MARGIN = 2;
/** How far before its old watermark a refresh looks for rows, in ticks. */
export const LOOKBACK = 2;
/** The clock at the beginning. */
export const START_TICK = 4;
/** The instant of the checkpoint that is not END. It divides the timeline into two segments. */
export const CHECKPOINT = 6;
/** The watermark without a rollup: before every recording time. */
export const NO_WATERMARK = -1;

/** A committed or written version of a row. A charge has only a start: its event time. */
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
  /** What an open transaction has written, the start of it, and the index of its writer. */
  pending: { version: Version | null; began: number; writer: number } | null;
}

/**
 * How often each row is counted: at 2i row i as a charge or as the start of a rental, at 2i + 1 as
 * the end of a rental. Right are 0 and 1.
 */
export type Totals = number[];

/** The rentals that a generation holds: the end of each by row, `NOT_HELD` for others. */
export type Held = number[];
export const NOT_HELD = -1;

/** A generation: the totals at its checkpoints, in order, and the charges of its only month. */
export interface Generation {
  checkpoints: Totals[];
  month: Totals;
  held: Held;
}

/** The provider's row of `rollups`. */
export interface RollupRow {
  generation: number;
  watermark: number;
  revision: number;
  build: { generation: number; watermark: number } | null;
  stability?: Stability | undefined;
}

/** What identifies the content of a rollup. */
export type Identity = Pick<RollupRow, "generation" | "watermark" | "revision">;

/** A change that was computed in a snapshot, and is written if `from` is still current. */
export interface Change {
  readonly from: Identity;
  readonly until: number;
  /** By segment. */
  readonly additions: readonly Totals[];
  readonly month: Totals;
  readonly held: Held;
  readonly differs: boolean;
}

/** A run between two of its steps. */
export interface Run {
  /** The step that comes next. */
  step: string;
  /** What it read of the clock. */
  now?: number;
  /** The start of the oldest open transaction that it saw; null if there is none. */
  oldest?: number | null;
  /** The watermark to move to. */
  until: number;
  /** What it found when it looked for news. */
  found?: { readonly generation: number; readonly building: boolean; readonly ahead: boolean };
  /** The build that it works on. */
  build?: { generation: number; watermark: number };
  /** A segment of the build: how many checkpoints there were, and the totals at its end. */
  segment?: {
    readonly index: number;
    readonly totals: Totals;
    readonly charges: Totals;
    readonly list: Held;
  };
  change?: Change;
  /** Totals that were read in an earlier snapshot: only where a cure is taken out. */
  stale?: readonly Totals[];
  /** Whether it reported a repair. */
  reported?: boolean;
}

/** Totals that a full query read: of the checkpoints, of the month, and of the edge before END. */
export interface Base {
  readonly identity: Identity;
  readonly atCheckpoint: Totals;
  readonly atEnd: Totals;
  readonly month: Totals;
  readonly edge: Totals;
}

export interface State {
  now: number;
  /** How far the clock has jumped: "no", "forward" or "back". */
  jumped: "no" | "forward" | "back";
  rows: Row[];
  /** By writer, in the order of the scenario: whether it has begun. */
  begun: boolean[];
  rollup: RollupRow | null;
  generations: Record<number, Generation>;
  runs: Run[];
  cached: Base | null;
  /** Whether somebody deleted the row of `rollups`. */
  deleted: boolean;
}

/** An instant of the clock, as text that sorts in order of time. */
export function instantText(tick: number): string {
  return String(tick - NO_WATERMARK).padStart(3, "0");
}

/** The checkpoints, as texts that sort in order. */
export const CHECKPOINT_TEXTS = ["checkpoint", "end"] as const;

/** No rows, for a state with as many rows as `rows`. */
export function none(rows: readonly Row[]): Totals {
  return rows.flatMap(() => [0, 0]);
}

/** The list of a generation that holds no rental, or does not exist. */
export function noneHeld(rows: readonly Row[]): Held {
  return rows.map(() => NOT_HELD);
}

/** The sum of totals, each times `factor`. */
export function plus(left: Totals, right: Totals, factor = 1): Totals {
  return left.map((count, index) => count + factor * (right[index] ?? 0));
}

export function isNone(totals: Totals): boolean {
  return totals.every((count) => count === 0);
}

/** The part of totals that `keep` accepts, by row and whether it is the end of a rental. */
export function part(totals: Totals, keep: (row: number, isEnd: boolean) => boolean): Totals {
  return totals.map((count, index) => (keep(index >> 1, index % 2 === 1) ? count : 0));
}

export function isRental(version: Version): version is Version & { readonly end: number | null } {
  return version.end !== undefined;
}

/** The index of the segment of an instant. */
export function segmentOf(instant: number): number {
  return instant < CHECKPOINT ? 0 : 1;
}
