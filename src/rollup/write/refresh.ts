/**
 * Refreshing a provider's rollup: moving its watermark forward, and repairing the segments in which
 * rows became covered. The change is computed in one snapshot and written in one short transaction.
 */
import type { Knex } from "knex";
import { fromDatetime, toDatetime } from "../../db/datetime.ts";
import { NO_GENERATION, type RollupState } from "../coverage.ts";
import { TABLES } from "../tables.ts";
import { START, segmentsOf } from "../timeline.ts";
import { changedSpans } from "./changed-spans.ts";
import { sumSegment } from "./ledger.ts";
import { nextBoundary } from "./segment.ts";
import {
  addFrom,
  inShortTransaction,
  inSnapshot,
  insertCheckpoint,
  readCheckpoints,
  readState,
  readTotals,
  type Version,
  writeMonths,
} from "./store.ts";
import { chargesOf, minus, plus, type TotalsByKey } from "./totals-by-key.ts";

/**
 * How far before the current watermark to look for changes, in ms. A transaction that was open for
 * longer than the margin commits rows whose recording time the watermark has already passed.
 */
const LOOKBACK = 3_600_000;

/** The maximum number of rows changed in one transaction. A larger change needs a build. */
const MAX_CHANGED_ROWS = 200_000;

/** The totals to write at a checkpoint. */
interface TotalsAt {
  readonly at: string;
  readonly totals: TotalsByKey;
}

/** A computed change to a version, whose watermark is the one before the change. */
interface Change extends Version, RollupState {
  /** The watermark after the change. */
  readonly until: string;
  /** What to add to the totals at a checkpoint and at every later one. */
  readonly additions: readonly TotalsAt[];
  /** New checkpoints in segments that have grown too large. */
  readonly splits: readonly TotalsAt[];
}

/**
 * Moves a provider's watermark forward to `until`. Writes nothing if the rollup already has this
 * watermark or a later one, or if another run changed it in the meantime.
 *
 * @param size the segment size, in charges
 * @returns the number of charges added; "build" if there is no rollup or the change is too large,
 *   so that a build is needed
 */
export async function refresh(
  database: Knex,
  provider: string,
  until: string,
  size: number,
): Promise<number | "build"> {
  const change = await inSnapshot(database, (reader) =>
    computeChange(reader, provider, until, size),
  );
  if (change === "build") return "build";
  if (change === "current") return 0;
  const written = await inShortTransaction(database, (transaction) => write(transaction, change));
  return written ? change.additions.reduce((sum, { totals }) => sum + chargesOf(totals), 0) : 0;
}

async function computeChange(
  reader: Knex.Transaction,
  provider: string,
  until: string,
  size: number,
): Promise<Change | "current" | "build"> {
  const state = await readState(reader, provider);
  if (state.generation === NO_GENERATION) return "build";
  const { generation, watermark } = state;
  if (until <= watermark) return "current";
  const version = { provider, generation };
  const checkpoints = (await readCheckpoints(reader, version)).map(({ at }) => at);
  const since = toDatetime(fromDatetime(watermark) - LOOKBACK);
  const spans = await changedSpans(reader, provider, since, until);
  const additions: TotalsAt[] = [];
  const splits: TotalsAt[] = [];
  let added: TotalsByKey = new Map(); // the sum of `additions`
  let rows = 0;
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
    // A segment is split at twice the size, so that most refreshes add no checkpoint.
    let [left, totals] = [from, plus(before, added)];
    for (;;) {
      const at = await nextBoundary(reader, { provider, from: left, to }, 2 * size);
      if (at === to) break;
      totals = plus(totals, await sumSegment(reader, { provider, from: left, to: at }, until));
      splits.push({ at, totals });
      rows += totals.size;
      left = at;
    }
    if (rows > MAX_CHANGED_ROWS) return "build";
    added = plus(added, addition);
  }
  return { ...version, watermark, until, additions, splits };
}

/** Writes a change. Resolves to false if the rollup has changed since the change was computed. */
async function write(transaction: Knex.Transaction, change: Change): Promise<boolean> {
  const state = await readState(transaction, change.provider, true);
  if (state.generation !== change.generation || state.watermark !== change.watermark) return false;
  for (const { at, totals } of change.additions) await addFrom(transaction, change, at, totals);
  for (const { at, totals } of change.splits) {
    await insertCheckpoint(transaction, change, at, totals);
  }
  if (change.additions.length > 0) await writeMonths(transaction, change);
  await transaction(TABLES.state)
    .where({ provider_id: change.provider })
    .update({ cut: change.until });
  return true;
}
