/**
 * A change to a rollup: computed in one snapshot, by comparing segments with the ledger, and
 * written in one short transaction. A refresh and a check differ only in which segments they
 * compare, and in the watermark afterwards.
 */
import type { Knex } from "knex";
import type { LedgerTable } from "../coverage.ts";
import { endOfMonth, START, startOfMonth } from "../timeline.ts";
import { type Difference, differenceOf, ownDifference } from "./difference.ts";
import { changeHeld, compareHeld, type HeldRental } from "./ledger/held-rentals.ts";
import { nextBoundary } from "./ledger/segment.ts";
import { sumSegment, sumSegments } from "./ledger/sums.ts";
import { type Checkpoint, missingByMonth } from "./months.ts";
import {
  addFrom,
  addToMonths,
  insertCheckpoint,
  readTotalsAt,
  recount,
  replaceState,
  type State,
  type Version,
} from "./store.ts";
import { grossOf, largestCount, minus, partOf, plus, type TotalsByKey } from "./totals-by-key.ts";

/** The maximum number of rows changed in one transaction. A larger change needs a build. */
const MAX_CHANGED_ROWS = 2_000_000;
/** The maximum number of segments compared at once, and of rows of totals read for them. */
const [BATCH_SEGMENTS, BATCH_ROWS] = [24, 50_000];

/** The totals to write at a checkpoint. */
interface TotalsAt {
  readonly at: string;
  readonly totals: TotalsByKey;
}

/** A segment to compare, by the index of the checkpoint at its end. */
export interface Touched {
  readonly index: number;
  /** The tables of which rows are to be compared. */
  readonly tables: readonly LedgerTable[];
}

/** What to compare. */
export interface Scope {
  readonly provider: string;
  readonly state: State;
  /** All checkpoints of the current generation. */
  readonly checkpoints: readonly Checkpoint[];
  /** In ascending order. */
  readonly touched: readonly Touched[];
  /** The watermark after the change. */
  readonly until: string;
  /** The segment size, in charges. */
  readonly size: number;
  /**
   * The gross of the charges that became covered, by month (202611). Added to the months if it
   * explains the change. Default: the months are compared.
   */
  readonly months?: ReadonlyMap<number, bigint>;
}

/** A computed change. */
export interface Change extends Version {
  /** The state that it was computed from. */
  readonly state: State;
  readonly until: string;
  /** What to add to the totals at a checkpoint and at every later one. */
  readonly additions: readonly TotalsAt[];
  /** New checkpoints in segments that have grown too large. */
  readonly splits: readonly TotalsAt[];
  /** What to change in the list of rentals. */
  readonly missing: readonly HeldRental[];
  readonly surplus: readonly HeldRental[];
  /** Checkpoints whose gross is not the sum of their totals. */
  readonly recounts: readonly string[];
  /** What to add to the gross of months (202611), in cents. */
  readonly months: ReadonlyMap<number, bigint>;
  /** What no row explains that became covered: an assumption was broken. */
  readonly differences: readonly Difference[];
}

/** Compares segments with the ledger. Resolves to "build" if too many rows would change. */
export async function computeChange(
  reader: Knex.Transaction,
  scope: Scope,
): Promise<Change | "build"> {
  const { provider, state, checkpoints, touched, until, size } = scope;
  const version = { provider, generation: state.generation };
  const covered = { generation: state.generation, watermark: until };
  const change = {
    additions: [] as TotalsAt[],
    splits: [] as TotalsAt[],
    missing: [] as HeldRental[],
    surplus: [] as HeldRental[],
    recounts: [] as string[],
    differences: [] as Difference[],
  };
  /** What is added to the gross of each checkpoint alone, and to all later ones. */
  const grossOfCheckpoint = new Map<number, bigint>();
  const grossFrom = new Map<number, bigint>();
  let added: TotalsByKey = new Map(); // the sum of the additions
  let rows = 0;
  for await (const compared of compareSegments(reader, scope)) {
    const { index, segment, before, after, addition, sums, fresh, held } = compared;
    const difference = differenceOf(segment, addition, fresh);
    if (difference) change.differences.push(difference);
    if (addition.size > 0) {
      change.additions.push({ at: segment.to, totals: addition });
      grossFrom.set(index, grossOf(addition));
      rows += addition.size * (checkpoints.length - index);
    }
    const error = grossOf(after) - (checkpoints[index]?.gross ?? 0n);
    if (error !== 0n) {
      change.recounts.push(segment.to);
      grossOfCheckpoint.set(index, error);
      change.differences.push(ownDifference(segment, "rollup row", error));
    }
    // A segment is split at twice the size, so that most refreshes add no checkpoint.
    let [left, totals] = [segment.from, plus(before, added)];
    while (largestCount(sums) > 2 * size) {
      const at = await nextBoundary(reader, { ...segment, from: left }, 2 * size);
      if (at === segment.to) break;
      totals = plus(totals, await sumSegment(reader, { ...segment, from: left, to: at }, covered));
      change.splits.push({ at, totals });
      rows += totals.size;
      left = at;
    }
    change.missing.push(...held.missing);
    change.surplus.push(...held.surplus);
    if (rows + change.missing.length > MAX_CHANGED_ROWS) return "build";
    added = plus(added, addition);
  }
  if (scope.months && change.differences.length === 0) {
    return { ...version, ...change, state, until, months: scope.months };
  }
  let sum = 0n;
  const after = checkpoints.map(({ at, gross }, index) => {
    sum += grossFrom.get(index) ?? 0n;
    return { at, gross: gross + sum + (grossOfCheckpoint.get(index) ?? 0n) };
  });
  const indexes = touched.map(({ index }) => index);
  const months = await missingByMonth(reader, version, after, indexes, until);
  if (change.additions.length === 0) {
    for (const [month, error] of months) {
      const segment = { provider, from: startOfMonth(month), to: endOfMonth(month) };
      change.differences.push(ownDifference(segment, "rollup row", error));
    }
  }
  return { ...version, ...change, state, until, months };
}

/**
 * Compares segments with the ledger, in batches. The list of rentals of a batch is compared with its
 * first segment.
 */
export async function* compareSegments(reader: Knex.Transaction, scope: Scope) {
  const { provider, state, checkpoints, touched, until, size } = scope;
  const version = { provider, generation: state.generation };
  const covered = { generation: state.generation, watermark: until };
  const batch = Math.min(BATCH_SEGMENTS, Math.max(1, Math.floor(BATCH_ROWS / size)));
  for (let start = 0; start < touched.length; start += batch) {
    const segments = touched.slice(start, start + batch).map(({ index, tables }) => {
      const from = checkpoints[index - 1]?.at ?? START;
      return { provider, from, to: checkpoints[index]?.at ?? "", index, tables };
    });
    const instants = [...new Set(segments.flatMap(({ from, to }) => [from, to]))];
    const totalsAt = await readTotalsAt(reader, version, instants);
    const sums = await sumSegments(reader, segments, covered, state.watermark);
    const withRentals = segments.filter(({ tables }) => tables.includes("rentals"));
    let held = await compareHeld(reader, withRentals, covered);
    for (const [at, { index, tables, ...segment }] of segments.entries()) {
      const before = totalsAt.get(segment.from) ?? new Map();
      const after = totalsAt.get(segment.to) ?? new Map();
      const { totals, fresh } = sums[at] ?? { totals: new Map(), fresh: new Map() };
      const addition = partOf(minus(totals, minus(after, before)), tables);
      yield { index, segment, before, after, addition, sums: totals, fresh, held };
      held = { missing: [], surplus: [] };
    }
  }
}

/**
 * Writes a change. Resolves to false if the rollup has changed since the change was computed.
 *
 * @param columns further columns of the state to set
 */
export async function writeChange(
  transaction: Knex.Transaction,
  change: Change,
  columns: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  const { provider, state, until, additions, splits, missing, surplus, recounts, months } = change;
  const lists = [additions, splits, missing, surplus, recounts];
  const writes = lists.reduce((sum, { length }) => sum + length, months.size);
  const revision = state.revision + (writes > 0 ? 1 : 0);
  const next = { ...columns, cut: until, revision };
  if (!(await replaceState(transaction, provider, state, next))) return false;
  for (const { at, totals } of additions) await addFrom(transaction, change, at, totals);
  for (const { at, totals } of splits) await insertCheckpoint(transaction, change, at, totals);
  await changeHeld(transaction, change, change);
  await recount(transaction, change, recounts);
  await addToMonths(transaction, change, months);
  return true;
}
