/**
 * Advancing a provider's rollup: moving its cut, and mending the segments into which
 * something was recorded since the last cut. Everything is read and reckoned in one
 * snapshot first; what is written is one short transaction.
 */
import type { Knex } from "knex";
import { fromDatetime, toDatetime } from "../datetime.ts";
import { shortly } from "./build.ts";
import { nextBoundary, sumSegment, touchedSpans } from "./ledger.ts";
import {
  addFrom,
  insertCheckpoint,
  readCheckpoints,
  readState,
  readVector,
  type Version,
  writeMonths,
} from "./store.ts";
import { START, segmentsOf } from "./timeline.ts";
import { minus, plus, type Vector } from "./vector.ts";

/**
 * How far before the last cut is looked again, in ms: a writer whose transaction was open for
 * longer than the margin committed what the last cut had passed already.
 */
const HEALING = 3_600_000;

/** More rows than this are better built anew than changed in one transaction. */
const MOST_ROWS = 200_000;

/** A change to a version, reckoned but not yet written. */
interface Change extends Version {
  /** The cut that it was reckoned from, and the one that it leads to. */
  readonly cut: string;
  readonly until: string;
  /** What is added to the figures at a checkpoint and at every later one. */
  readonly additions: readonly { readonly at: string; readonly vector: Vector }[];
  /** New checkpoints in segments that have grown. */
  readonly splits: readonly { readonly at: string; readonly vector: Vector }[];
}

/** What became of an advance. */
export type Advance =
  /** The cut was moved. */
  | { readonly outcome: "advanced"; readonly cut: string; readonly charges: number }
  /** Nothing to do: the cut is there already. */
  | { readonly outcome: "current" }
  /** Another run was quicker; its work was left as it is. */
  | { readonly outcome: "overtaken" }
  /** There is no rollup, or so much has changed that a build is quicker. */
  | { readonly outcome: "build" };

/**
 * Moves a provider's cut to `until` (never back).
 *
 * @param size how many charges may lie between two checkpoints
 */
export async function advance(
  database: Knex,
  provider: string,
  until: string,
  size: number,
): Promise<Advance> {
  const change = await database.transaction((reader) => reckon(reader, provider, until, size), {
    readOnly: true,
  });
  if (typeof change === "string") return { outcome: change };
  const written = await shortly(database, (transaction) => write(transaction, change));
  if (!written) return { outcome: "overtaken" };
  const charges = change.additions
    .flatMap(({ vector }) => [...vector.values()])
    .reduce((sum, figures) => sum + figures.charges, 0);
  return { outcome: "advanced", cut: until, charges };
}

async function reckon(
  reader: Knex.Transaction,
  provider: string,
  until: string,
  size: number,
): Promise<Change | "current" | "build"> {
  const state = await readState(reader, provider);
  if (state === undefined || state.generation === 0) return "build";
  const { generation, cut } = state;
  if (until <= cut) return "current";
  const version = { provider, generation };
  const checkpoints = (await readCheckpoints(reader, version)).map(({ at }) => at);
  const since = toDatetime(fromDatetime(cut) - HEALING);
  const additions: { at: string; vector: Vector }[] = [];
  const splits: { at: string; vector: Vector }[] = [];
  let carried: Vector = new Map();
  let rows = 0;
  const spans = await touchedSpans(reader, provider, since, until);
  for (const to of segmentsOf(spans, checkpoints)) {
    const index = checkpoints.indexOf(to);
    const from = checkpoints[index - 1] ?? START;
    const before = await readVector(reader, version, from);
    const stored = minus(await readVector(reader, version, to), before);
    const addition = minus(await sumSegment(reader, { provider, from, to }, until), stored);
    if (addition.size > 0) {
      additions.push({ at: to, vector: addition });
      rows += addition.size * (checkpoints.length - index);
    }
    // Twice the size: a segment is cut when it pays, not at every charge.
    let [left, running] = [from, plus(before, carried)];
    for (;;) {
      const at = await nextBoundary(reader, { provider, from: left, to }, 2 * size);
      if (at === to) break;
      running = plus(running, await sumSegment(reader, { provider, from: left, to: at }, until));
      splits.push({ at, vector: running });
      rows += running.size;
      left = at;
    }
    if (rows > MOST_ROWS) return "build";
    carried = plus(carried, addition);
  }
  return { ...version, cut, until, additions, splits };
}

/** Writes a change; false where the rollup is no longer the one that it was reckoned from. */
async function write(transaction: Knex.Transaction, change: Change): Promise<boolean> {
  const state = await readState(transaction, change.provider, true);
  if (state?.generation !== change.generation || state.cut !== change.cut) return false;
  for (const { at, vector } of change.additions) await addFrom(transaction, change, at, vector);
  for (const { at, vector } of change.splits) {
    await insertCheckpoint(transaction, change, at, vector);
  }
  if (change.additions.length > 0) await writeMonths(transaction, change);
  await transaction("rollups")
    .where({ provider_id: change.provider })
    .update({ cut: change.until });
  return true;
}
