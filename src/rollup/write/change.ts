/**
 * Changes to rollups: computed in one snapshot, by comparing segments with the ledger, and written
 * in one short transaction, for one provider or for several. A refresh and a check differ only in
 * which segments they compare, and in the watermark afterwards.
 */
import type { Knex } from "knex";
import { nextStability } from "../stability.ts";
import { endOfMonth, startOfMonth } from "../timeline.ts";
import { type Difference, differenceOf, ownDifference } from "./difference.ts";
import { type Compared, compareSegments, type Scope } from "./ledger/comparison.ts";
import { changeHeld, type HeldRental } from "./ledger/held-rentals.ts";
import { nextBoundary } from "./ledger/segment.ts";
import { sumSegment } from "./ledger/sums.ts";
import { missingByMonth } from "./months.ts";
import { readStates, type State, setStates, stabilityColumns } from "./state.ts";
import {
  addFrom,
  addToMonths,
  type Checkpoint,
  insertCheckpoint,
  setGross,
  type Version,
} from "./store.ts";
import { grossOf, largestCount, plus, type TotalsByKey } from "./totals-by-key.ts";

/** The maximum number of rows changed in one transaction. A larger change needs a build. */
const MAX_CHANGED_ROWS = 2_000_000;

/** The totals to write at a checkpoint. */
interface TotalsToWrite {
  readonly at: string;
  readonly totals: TotalsByKey;
}

/** A change to a provider's rollup. */
export interface Change extends Version {
  /** The state that it was computed from. */
  readonly state: State;
  readonly until: string;
  /** What to add to the totals at a checkpoint and at every later one. */
  readonly additions: readonly TotalsToWrite[];
  /** New checkpoints in segments that have grown too large. */
  readonly splits: readonly TotalsToWrite[];
  /** What to change in the list of rentals. */
  readonly missing: readonly HeldRental[];
  readonly surplus: readonly HeldRental[];
  /** The new gross of checkpoints. */
  readonly gross: readonly Checkpoint[];
  /** What to add to the gross of months (202611), in cents. */
  readonly months: ReadonlyMap<number, bigint>;
  /** What no row explains that became covered: an assumption was broken. */
  readonly differences: readonly Difference[];
}

/** What was found in the segments of a scope so far. */
interface Draft {
  readonly scope: Scope;
  readonly additions: TotalsToWrite[];
  readonly splits: TotalsToWrite[];
  readonly missing: HeldRental[];
  readonly surplus: HeldRental[];
  readonly differences: Difference[];
  /** What is added to the gross of a checkpoint alone, and to that of all later ones, by index. */
  readonly grossOf: Map<number, bigint>;
  readonly grossFrom: Map<number, bigint>;
  /** The sum of the additions. */
  added: TotalsByKey;
  /** The number of rows that change. */
  rows: number;
}

/**
 * Compares segments with the ledger. Resolves to a change for each scope, in their order; "build" if
 * too many rows would change.
 */
export async function computeChanges(
  reader: Knex.Transaction,
  scopes: readonly Scope[],
): Promise<(Change | "build")[]> {
  const drafts = new Map<Scope, Draft>();
  for (const scope of scopes) {
    const lists = { additions: [], splits: [], missing: [], surplus: [], differences: [] };
    const gross = { grossOf: new Map(), grossFrom: new Map() };
    drafts.set(scope, { scope, ...lists, ...gross, added: new Map(), rows: 0 });
  }
  const isTooLarge = (scope: Scope) => {
    const { rows = 0, missing = [] } = drafts.get(scope) ?? {};
    return rows + missing.length > MAX_CHANGED_ROWS;
  };
  for await (const compared of compareSegments(reader, scopes, isTooLarge)) {
    const draft = drafts.get(compared.scope);
    if (draft && !isTooLarge(draft.scope)) await addSegment(reader, draft, compared);
  }
  const changes: (Change | "build")[] = [];
  for (const [scope, draft] of drafts) {
    changes.push(isTooLarge(scope) ? "build" : await complete(reader, draft));
  }
  return changes;
}

/** Adds what was found in a segment. */
async function addSegment(
  reader: Knex.Transaction,
  draft: Draft,
  compared: Compared,
): Promise<void> {
  const { scope, index, segment, before, after, addition, sums, fresh, held } = compared;
  const { checkpoints, size, state, until } = scope;
  const difference = differenceOf(segment, addition, fresh);
  if (difference) draft.differences.push(difference);
  if (addition.size > 0) {
    draft.additions.push({ at: segment.to, totals: addition });
    draft.grossFrom.set(index, grossOf(addition));
    draft.rows += addition.size * (checkpoints.length - index);
  }
  const error = grossOf(after) - (checkpoints[index]?.gross ?? 0n);
  if (error !== 0n) {
    draft.grossOf.set(index, error);
    draft.differences.push(ownDifference(segment, "rollup row", error));
  }
  // A segment is split at twice the size, so that most refreshes add no checkpoint.
  const covered = { generation: state.generation, watermark: until };
  let [left, totals] = [segment.from, plus(before, draft.added)];
  while (largestCount(sums) > 2 * size) {
    const at = await nextBoundary(reader, { ...segment, from: left }, 2 * size);
    if (at === segment.to) break;
    totals = plus(totals, await sumSegment(reader, { ...segment, from: left, to: at }, covered));
    draft.splits.push({ at, totals });
    draft.rows += totals.size;
    left = at;
  }
  draft.missing.push(...held.missing);
  draft.surplus.push(...held.surplus);
  draft.added = plus(draft.added, addition);
}

/** The change of a scope of which all segments were compared. */
async function complete(reader: Knex.Transaction, draft: Draft): Promise<Change> {
  const { scope, additions, splits, missing, surplus, differences } = draft;
  const { provider, generation, state, until, checkpoints, touched } = scope;
  let sum = 0n;
  const after = checkpoints.map(({ at, gross }, index) => {
    sum += draft.grossFrom.get(index) ?? 0n;
    return { at, gross: gross + sum + (draft.grossOf.get(index) ?? 0n) };
  });
  const change = {
    ...{ provider, generation, state, until, additions, splits, missing, surplus, differences },
    gross: after.filter(({ gross }, index) => gross !== checkpoints[index]?.gross),
  };
  if (scope.months && differences.length === 0) return { ...change, months: scope.months };
  const indexes = touched.map(({ index }) => index);
  const months = await missingByMonth(reader, scope, after, indexes, until);
  if (additions.length === 0) {
    for (const [month, error] of months) {
      const segment = { provider, from: startOfMonth(month), to: endOfMonth(month) };
      differences.push(ownDifference(segment, "rollup row", error));
    }
  }
  return { ...change, months };
}

/**
 * Writes changes. Those are left out whose rollup has changed since they were computed.
 *
 * @param columns further columns of the states to set
 * @returns the changes that were written
 */
export async function writeChanges(
  transaction: Knex.Transaction,
  computed: readonly Change[],
  columns: Readonly<Record<string, string>> = {},
): Promise<Change[]> {
  const providers = computed.map(({ provider }) => provider);
  const states = await readStates(transaction, providers, true);
  const changes = computed.filter(({ state }, nth) => {
    const { generation, watermark, revision } = states[nth] ?? {};
    const isSame = generation === state.generation && watermark === state.watermark;
    return isSame && revision === state.revision;
  });
  const next = changes.map(({ provider, state, until, ...change }) => {
    const { additions, splits, missing, surplus, gross, months } = change;
    const lists = [additions, splits, missing, surplus, gross];
    const writes = lists.reduce((sum, { length }) => sum + length, months.size);
    const revision = state.revision + (writes > 0 ? 1 : 0);
    const [changed] = additions.map(({ at }) => at).sort();
    const stable = stabilityColumns(nextStability(state, revision, changed));
    return { ...columns, provider_id: provider, cut: until, revision, ...stable };
  });
  await setStates(transaction, next);
  /** What to write of all changes, each with its version. */
  const all = <Each>(of: (change: Change) => Iterable<Each>) =>
    changes.flatMap((change) => {
      const { provider, generation } = change;
      return [...of(change)].map((each) => ({ provider, generation, ...each }));
    });
  await addFrom(
    transaction,
    all(({ additions }) => additions),
  );
  for (const split of all(({ splits }) => splits)) await insertCheckpoint(transaction, split);
  await changeHeld(transaction, changes);
  await setGross(
    transaction,
    all(({ gross }) => gross),
  );
  const months = all((change) => [...change.months].map(([month, gross]) => ({ month, gross })));
  await addToMonths(transaction, months);
  return changes;
}
