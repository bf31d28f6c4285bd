/**
 * The edges of a period: the last instant before it, and its last one. Charges are summed up to an
 * edge from a cached prefix sum, or from the totals of the rollup at a checkpoint nearby.
 */
import { fromDatetime } from "../../db/datetime.ts";
import type { Cached } from "../../rollup/read/cache.ts";
import { lastInstantOf } from "../../rollup/read/sql.ts";
import { END, START } from "../../rollup/timeline.ts";
import type { ChargesRow, Place, PrefixSum, TotalsRow } from "./prefix-sum.ts";
import type { fullBreakdown, uncoveredBreakdown } from "./queries.ts";

/** An edge, and what charges are summed from. */
export interface Edge extends Place {
  /** A cached prefix sum to complete. Without one, the totals at the checkpoint are read. */
  readonly base?: Cached<PrefixSum> | undefined;
}

/** Both edges, or what belongs to each. */
export interface Edges<Each = Edge> {
  readonly start: Each;
  readonly end: Each;
}

/** What a statement found at an edge. */
export interface Found {
  /** The charges between the base, or the totals at the checkpoint, and the edge. */
  readonly charges: readonly ChargesRow[];
  /** The charges between the base and its checkpoint: see `isUnchanged`. */
  readonly verified: string;
  /** Without a base: the checkpoints before ("" if there is none) and after it, and the totals. */
  readonly before: string;
  readonly after: string;
  readonly totals: readonly TotalsRow[];
}

type FullRows = Awaited<ReturnType<typeof fullBreakdown.run>>["rows"];
type UncoveredRows = Awaited<ReturnType<typeof uncoveredBreakdown.run>>["rows"];

/** The rows of one of the two statements that read. */
export type Rows = UncoveredRows & Partial<FullRows>;

/** The edge that a cached prefix sum is the base for. */
export function edgeFrom(base: Cached<PrefixSum>, at: string): Edge {
  return { at, checkpoint: base.totals.checkpoint, base };
}

/** The same edges, at the same checkpoints. */
export function withoutBases({ start, end }: Edges): Edges {
  return { start: { ...start, base: undefined }, end: { ...end, base: undefined } };
}

/** Whether a checkpoint is one of the two around the edge, so that few charges lie between. */
export function isAround(checkpoint: string, { before, after }: Found): boolean {
  return checkpoint === after || checkpoint === (before || START);
}

/** An edge at the last checkpoint: it is there always, with many charges between perhaps. */
export function lastEdge(at: string): Edge {
  return { at, checkpoint: END };
}

/**
 * An edge at the nearer one of the checkpoints before ("" if there is none) and after it. Charges lie
 * up to `now` for the most part, so that the last checkpoint is taken to be there.
 */
export function nearestEdge(at: string, before: string, after: string, now: string): Edge {
  // Before the first checkpoint lie two thousand years: time does not tell which end is nearer.
  if (before === "" && after !== END && at !== lastInstantOf(after)) {
    return { at, checkpoint: START };
  }
  const edge = fromDatetime(at);
  const toAfter = Math.min(fromDatetime(after), fromDatetime(now)) - edge;
  const isNearer = before !== "" && edge - fromDatetime(before) < toAfter;
  return { at, checkpoint: isNearer ? before : after };
}

/** The values of the parameters of the edges, for both statements. */
export function edgeValues({ start, end }: Edges) {
  return {
    before: start.at,
    startFrom: knownTo(start),
    startLast: lastInstantOf(start.checkpoint),
    end: end.at,
    endFrom: knownTo(end),
    endLast: lastInstantOf(end.checkpoint),
    startTotals: checkpointToRead(start),
    endTotals: checkpointToRead(end),
  };
}

/** The instant up to which charges are known. */
function knownTo({ base, checkpoint }: Edge): string {
  return base ? base.totals.at : lastInstantOf(checkpoint);
}

/** The checkpoint whose totals are to be read. There are none at the start of the timeline. */
function checkpointToRead({ base, checkpoint }: Edge): string {
  return base ? START : checkpoint;
}

const NOTHING_AROUND = { beforeStart: "", afterStart: END, beforeEnd: "", afterEnd: END };

/** What a statement found at the edges. */
export function foundAt(rows: Rows): Edges<Found> {
  const [{ verifiedAtStart = "", verifiedAtEnd = "" } = {}] = rows.state;
  const [around = NOTHING_AROUND] = rows.checkpoints ?? [];
  return {
    start: {
      charges: rows.chargesAtStart,
      verified: verifiedAtStart,
      before: around.beforeStart,
      after: around.afterStart,
      totals: rows.totalsAtStart ?? [],
    },
    end: {
      charges: rows.chargesAtEnd,
      verified: verifiedAtEnd,
      before: around.beforeEnd,
      after: around.afterEnd,
      totals: rows.totalsAtEnd ?? [],
    },
  };
}
