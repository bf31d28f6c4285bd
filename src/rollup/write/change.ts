/**
 * A change to a rollup: computed in one snapshot, by comparing segments with the ledger, and
 * written in one short transaction. A refresh and a check differ only in which segments they
 * compare, and in the watermark afterwards.
 */
import type { Knex } from "knex";
import type { LedgerTable } from "../coverage.ts";
import { TABLES } from "../tables.ts";
import { endOfMonth, START, startOfMonth } from "../timeline.ts";
import { type Difference, differenceOf, ownDifference } from "./difference.ts";
import { nextBoundary } from "./ledger/segment.ts";
import { type SegmentSums, sumSegment, sumSegments } from "./ledger/sums.ts";
import { type Checkpoint, type WrongMonth, wrongMonths } from "./months.ts";
import {
  addFrom,
  insertCheckpoint,
  readState,
  readTotalsAt,
  recount,
  type State,
  type Version,
  writeMonths,
} from "./store.ts";
import {
  grossOf,
  largestCount,
  minus,
  plus,
  rentalsOf,
  type TotalsByKey,
} from "./totals-by-key.ts";

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
  /** Whether only rentals were written in it, so that its charges need not be read. */
  readonly rentalsOnly: boolean;
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
  /** Whether to compare months of which no charge has changed. */
  readonly everyMonth: boolean;
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
  /** Checkpoints whose gross is not the sum of their totals. */
  readonly recounts: readonly string[];
  readonly months: readonly WrongMonth[];
  /** What no row explains that became covered: an assumption was broken. */
  readonly differences: readonly Difference[];
}

/** Compares segments with the ledger. Resolves to "build" if too many rows would change. */
export async function computeChange(
  reader: Knex.Transaction,
  scope: Scope,
): Promise<Change | "build"> {
  const { provider, state, checkpoints, touched, until, size, everyMonth } = scope;
  const version = { provider, generation: state.generation };
  const change = {
    additions: [] as TotalsAt[],
    splits: [] as TotalsAt[],
    recounts: [] as string[],
    differences: [] as Difference[],
  };
  /** What is added to the gross of each checkpoint alone, and to all later ones. */
  const grossOfCheckpoint = new Map<number, bigint>();
  const grossFrom = new Map<number, bigint>();
  let added: TotalsByKey = new Map(); // the sum of the additions
  let rows = 0;
  for await (const compared of compareSegments(reader, scope)) {
    const { index, segment, before, after, addition, sums, fresh } = compared;
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
      totals = plus(totals, await sumSegment(reader, { ...segment, from: left, to: at }, until));
      change.splits.push({ at, totals });
      rows += totals.size;
      left = at;
    }
    if (rows > MAX_CHANGED_ROWS) return "build";
    added = plus(added, addition);
  }
  let sum = 0n;
  const after = checkpoints.map(({ at, gross }, index) => {
    sum += grossFrom.get(index) ?? 0n;
    return { at, gross: gross + sum + (grossOfCheckpoint.get(index) ?? 0n) };
  });
  const indexes = everyMonth ? touched.map(({ index }) => index) : [...grossFrom.keys()];
  const months = await wrongMonths(reader, version, after, indexes, until);
  if (change.additions.length === 0) {
    for (const { month, error } of months) {
      const segment = { provider, from: startOfMonth(month), to: endOfMonth(month) };
      change.differences.push(ownDifference(segment, "rollup row", error));
    }
  }
  return { ...version, ...change, state, until, months };
}

/** Compares segments in batches. */
async function* compareSegments(reader: Knex.Transaction, scope: Scope) {
  const { provider, state, checkpoints, touched, until, size } = scope;
  const version = { provider, generation: state.generation };
  const batch = Math.min(BATCH_SEGMENTS, Math.max(1, Math.floor(BATCH_ROWS / size)));
  for (let start = 0; start < touched.length; start += batch) {
    const segments = touched.slice(start, start + batch).map((part) => ({
      ...part,
      segment: {
        provider,
        from: checkpoints[part.index - 1]?.at ?? START,
        to: checkpoints[part.index]?.at ?? "",
      },
    }));
    const instants = [...new Set(segments.flatMap(({ segment }) => [segment.from, segment.to]))];
    const totals = await readTotalsAt(reader, version, instants);
    const totalsAt = new Map(instants.map((at, index) => [at, totals[index]]));
    const sums = new Map<number, SegmentSums>();
    for (const rentalsOnly of [false, true]) {
      const part = segments.filter((candidate) => candidate.rentalsOnly === rentalsOnly);
      if (part.length === 0) continue;
      const tables: LedgerTable[] = rentalsOnly ? ["rentals"] : ["charges", "rentals"];
      const found = await sumSegments(
        reader,
        part.map(({ segment }) => segment),
        until,
        state.watermark,
        tables,
      );
      for (const [at, { index }] of part.entries()) {
        const sum = found[at];
        if (sum) sums.set(index, sum);
      }
    }
    for (const { index, segment, rentalsOnly } of segments) {
      const before = totalsAt.get(segment.from) ?? new Map();
      const after = totalsAt.get(segment.to) ?? new Map();
      const { totals, fresh } = sums.get(index) ?? { totals: new Map(), fresh: new Map() };
      const difference = minus(totals, minus(after, before));
      const addition = rentalsOnly ? rentalsOf(difference) : difference;
      yield { index, segment, before, after, addition, sums: totals, fresh };
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
  const { provider, state, additions, splits, recounts, months } = change;
  const { generation, watermark, revision } = await readState(transaction, provider, true);
  if (generation !== state.generation || watermark !== state.watermark) return false;
  if (revision !== state.revision) return false;
  for (const { at, totals } of additions) await addFrom(transaction, change, at, totals);
  for (const { at, totals } of splits) await insertCheckpoint(transaction, change, at, totals);
  await recount(transaction, change, recounts);
  await writeMonths(transaction, change, months);
  const writes = additions.length + splits.length + recounts.length + months.length;
  await transaction(TABLES.state)
    .where({ provider_id: provider })
    .update({ ...columns, cut: change.until, revision: revision + (writes > 0 ? 1 : 0) });
  return true;
}
