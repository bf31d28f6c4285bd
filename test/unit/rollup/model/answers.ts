/** Answers in the model, with and without cached totals, and what the ledger says. */
import { isStable } from "../../../../src/rollup/stability.ts";
import { isCovered } from "./ledger.ts";
import type { Model } from "./model.ts";
import {
  type Base,
  CHECKPOINT,
  CHECKPOINT_TEXTS,
  type Identity,
  instantText,
  isRental,
  NO_WATERMARK,
  none,
  noneHeld,
  plus,
  type Row,
  type State,
  type Totals,
  type Version,
} from "./state.ts";

type Has = Model["has"];

/** A period, both ends included. Each begins and ends so that other regions of the plane are read. */
const PERIODS = {
  "all of time": { start: 0, end: 99 },
  "the last segment": { start: CHECKPOINT, end: 99 },
  "all but an edge": { start: 0, end: CHECKPOINT },
} as const;

interface Period {
  readonly start: number;
  readonly end: number;
}

/** What was asked, and how often each row was counted. */
export type Answers = Readonly<Record<string, readonly number[]>>;

/** The rollup that an answer uses. */
export function usedIdentity({ rollup, now }: State, trustsAll: boolean): Identity {
  if (!rollup || rollup.generation === 0 || (rollup.watermark > now && !trustsAll)) {
    return { generation: 0, watermark: NO_WATERMARK, revision: 0 };
  }
  const { generation, watermark, revision } = rollup;
  return { generation, watermark, revision };
}

/** The totals that a full query reads. */
export function readBase(state: State, has: Has): Base {
  const { rows, generations } = state;
  const identity = usedIdentity(state, !has("distrust"));
  const { checkpoints = [], month = none(rows) } = generations[identity.generation] ?? {};
  const [atCheckpoint = none(rows), atEnd = none(rows)] = checkpoints;
  return { identity, atCheckpoint, atEnd, month, edge: edgeCharges(rows, identity, has) };
}

/** The covered charges between the end of a period, at the checkpoint, and END. */
function edgeCharges(rows: readonly Row[], { watermark }: Identity, has: Has): Totals {
  const edge = none(rows);
  const cover = { watermark, held: noneHeld(rows) };
  for (const [index, { committed }] of rows.entries()) {
    if (!committed || isRental(committed) || committed.start <= CHECKPOINT) continue;
    if (isCovered(committed, index, cover, has)) edge[2 * index] = 1;
  }
  return edge;
}

/** Completes totals with the rows that they do not hold; `watermark` is normally their own. */
function complete(
  { rows, generations }: State,
  base: Base,
  has: Has,
  watermark: number = base.identity.watermark,
): Answers {
  const { atCheckpoint, atEnd, month, edge } = base;
  const { held = noneHeld(rows) } = generations[base.identity.generation] ?? {};
  const counted = (totals: Totals, period: Period | undefined) =>
    rows.map(({ committed }, row) => {
      let count = totals[2 * row] ?? 0;
      // A rental that ended before the period did not run in it.
      if (period && period.start >= CHECKPOINT) count -= atCheckpoint[2 * row + 1] ?? 0;
      if (!committed) return count;
      const covered = isCovered(committed, row, { watermark, held }, has);
      if (!isRental(committed)) {
        const isIn = !period || isInPeriod(committed, period);
        return count + (!covered && isIn ? 1 : 0);
      }
      if (!period) return 0;
      // The rentals of the edge are read: those that started after the end did not run either.
      if (covered) return count - (committed.start > period.end ? 1 : 0);
      return count + (isInPeriod(committed, period) ? 1 : 0);
    });
  const afterCheckpoint = atEnd.map((count, index) =>
    isRentalRow(rows, index >> 1) ? count : count - (atCheckpoint[index] ?? 0),
  );
  return {
    lifetime: counted(chargesIn(rows, atEnd), undefined),
    month: counted(month, undefined),
    "all of time": counted(atEnd, PERIODS["all of time"]),
    "the last segment": counted(afterCheckpoint, PERIODS["the last segment"]),
    "all but an edge": counted(plus(atEnd, edge, -1), PERIODS["all but an edge"]),
  };
}

function isRentalRow(rows: readonly Row[], row: number): boolean {
  const version = rows[row]?.committed;
  return version != null && isRental(version);
}

function chargesIn(rows: readonly Row[], totals: Totals): Totals {
  return totals.map((count, index) => (isRentalRow(rows, index >> 1) ? 0 : count));
}

function isInPeriod(version: Version, { start, end }: Period): boolean {
  if (!isRental(version)) return version.start >= start && version.start <= end;
  return version.start <= end && (version.end ?? end) >= start;
}

/** What the ledger says. */
export function expectedAnswers({ rows }: State): Answers {
  const count = (accept: (version: Version) => boolean) =>
    rows.map(({ committed }) => (committed && accept(committed) ? 1 : 0));
  const charges = count((version) => !isRental(version));
  return {
    lifetime: charges,
    month: charges,
    "all of time": count((version) => isInPeriod(version, PERIODS["all of time"])),
    "the last segment": count((version) => isInPeriod(version, PERIODS["the last segment"])),
    "all but an edge": count((version) => isInPeriod(version, PERIODS["all but an edge"])),
  };
}

/** The answers of the full query. */
export function fullAnswers(state: State, has: Has): Answers {
  return complete(state, readBase(state, has), has);
}

/** The answers of two snapshots, where an answer does not read one: the totals are older. */
export function tornAnswers(state: State, older: Base, has: Has): Answers {
  return complete(state, older, has, usedIdentity(state, false).watermark);
}

/**
 * The answers that use cached totals; those of the full query if they are outdated, which reads all
 * but stable totals.
 */
export function cachedAnswers(state: State, cached: Base, has: Has): Answers {
  const found = usedIdentity(state, !has("cache distrusts"));
  const fields = ["generation", "watermark", "revision"] as const;
  const isCurrent = fields.every(
    (field) => cached.identity[field] === found[field] || !has(`cache compares ${field}`),
  );
  const edge = edgeCharges(state.rows, cached.identity, has);
  const isSame = edge.join() === cached.edge.join() || !has("edges verified");
  if (isCurrent && isSame) return complete(state, cached, has);
  const { atCheckpoint } = isCheckpointStable(state, cached, has) ? cached : readBase(state, has);
  return complete(state, { ...readBase(state, has), atCheckpoint }, has);
}

/** Whether the cached totals at the checkpoint outlast what changed since. */
function isCheckpointStable(state: State, { identity }: Base, has: Has): boolean {
  const found = usedIdentity(state, !has("distrust"));
  if (!has("stability")) return identity.generation === found.generation;
  const { stability } = state.rollup ?? {};
  if (!stability || found.generation === 0) return false;
  const { since, sinceWatermark, until, before } = stability;
  return isStable(
    textOf(identity),
    textOf(found),
    [since, sinceWatermark, until, before].join(","),
    CHECKPOINT_TEXTS[0],
  );
}

function textOf({ generation, watermark, revision }: Identity) {
  return {
    generation: String(generation),
    watermark: instantText(watermark),
    revision: String(revision),
  };
}
