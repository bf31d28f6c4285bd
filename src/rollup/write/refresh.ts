/**
 * Advancing a provider's rollup: moving its watermark, and mending the segments into which
 * something was recorded since the last watermark. Everything is read and reckoned in one
 * snapshot first; what is written is one short transaction.
 */
import type { Knex } from "knex";
import { fromDatetime, toDatetime } from "../../db/datetime.ts";
import { START, segmentsOf } from "../timeline.ts";
import { inShortTransaction } from "./build.ts";
import { nextBoundary, sumSegment, touchedSpans } from "./ledger.ts";
import {
  addFrom,
  insertCheckpoint,
  readCheckpoints,
  readState,
  readTotals,
  type Version,
  writeMonths,
} from "./store.ts";
import { minus, plus, type TotalsByKey } from "./totals-by-key.ts";

/**
 * How far before the last watermark is looked again, in ms: a writer whose transaction was open for
 * longer than the margin committed what the last watermark had passed already.
 */
const HEALING = 3_600_000;

/** More rows than this are better built anew than changed in one transaction. */
const MOST_ROWS = 200_000;

/** A change to a version, reckoned but not yet written. */
interface Change extends Version {
  /** The watermark that it was reckoned from, and the one that it leads to. */
  readonly watermark: string;
  readonly until: string;
  /** What is added to the figures at a checkpoint and at every later one. */
  readonly additions: readonly { readonly at: string; readonly totals: TotalsByKey }[];
  /** New checkpoints in segments that have grown. */
  readonly splits: readonly { readonly at: string; readonly totals: TotalsByKey }[];
}

/** What became of an refresh. */
export type Refresh =
  /** The watermark was moved. */
  | { readonly outcome: "advanced"; readonly watermark: string; readonly charges: number }
  /** Nothing to do: the watermark is there already. */
  | { readonly outcome: "current" }
  /** Another run was quicker; its work was left as it is. */
  | { readonly outcome: "overtaken" }
  /** There is no rollup, or so much has changed that a build is quicker. */
  | { readonly outcome: "build" };

/**
 * Moves a provider's watermark to `until` (never back).
 *
 * @param size how many charges may lie between two checkpoints
 */
export async function refresh(
  database: Knex,
  provider: string,
  until: string,
  size: number,
): Promise<Refresh> {
  const change = await database.transaction(
    (reader) => computeChange(reader, provider, until, size),
    {
      readOnly: true,
    },
  );
  if (typeof change === "string") return { outcome: change };
  const written = await inShortTransaction(database, (transaction) => write(transaction, change));
  if (!written) return { outcome: "overtaken" };
  const charges = change.additions
    .flatMap(({ totals }) => [...totals.values()])
    .reduce((sum, figures) => sum + figures.charges, 0);
  return { outcome: "advanced", watermark: until, charges };
}

async function computeChange(
  reader: Knex.Transaction,
  provider: string,
  until: string,
  size: number,
): Promise<Change | "current" | "build"> {
  const state = await readState(reader, provider);
  if (state === undefined || state.generation === 0) return "build";
  const { generation, watermark } = state;
  if (until <= watermark) return "current";
  const version = { provider, generation };
  const checkpoints = (await readCheckpoints(reader, version)).map(({ at }) => at);
  const since = toDatetime(fromDatetime(watermark) - HEALING);
  const additions: { at: string; totals: TotalsByKey }[] = [];
  const splits: { at: string; totals: TotalsByKey }[] = [];
  let carried: TotalsByKey = new Map();
  let rows = 0;
  const spans = await touchedSpans(reader, provider, since, until);
  for (const to of segmentsOf(spans, checkpoints)) {
    const index = checkpoints.indexOf(to);
    const from = checkpoints[index - 1] ?? START;
    const before = await readTotals(reader, version, from);
    const stored = minus(await readTotals(reader, version, to), before);
    const addition = minus(await sumSegment(reader, { provider, from, to }, until), stored);
    if (addition.size > 0) {
      additions.push({ at: to, totals: addition });
      rows += addition.size * (checkpoints.length - index);
    }
    // Twice the size: a segment is watermark when it pays, not at every charge.
    let [left, running] = [from, plus(before, carried)];
    for (;;) {
      const at = await nextBoundary(reader, { provider, from: left, to }, 2 * size);
      if (at === to) break;
      running = plus(running, await sumSegment(reader, { provider, from: left, to: at }, until));
      splits.push({ at, totals: running });
      rows += running.size;
      left = at;
    }
    if (rows > MOST_ROWS) return "build";
    carried = plus(carried, addition);
  }
  return { ...version, watermark, until, additions, splits };
}

/** Writes a change; false where the rollup is no longer the one that it was reckoned from. */
async function write(transaction: Knex.Transaction, change: Change): Promise<boolean> {
  const state = await readState(transaction, change.provider, true);
  if (state?.generation !== change.generation || state.watermark !== change.watermark) return false;
  for (const { at, totals } of change.additions) await addFrom(transaction, change, at, totals);
  for (const { at, totals } of change.splits) {
    await insertCheckpoint(transaction, change, at, totals);
  }
  if (change.additions.length > 0) await writeMonths(transaction, change);
  await transaction("rollups")
    .where({ provider_id: change.provider })
    .update({ cut: change.until });
  return true;
}
