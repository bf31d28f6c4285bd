/**
 * Checking a provider's rollup: a slice of it is compared with the ledger at the current watermark,
 * and what differs is repaired in one short transaction. Small rollups are one slice; larger ones
 * are compared slice by slice, so that all slices have had their turn within a period.
 */
import type { Knex } from "knex";
import { fromDatetime, toDatetime } from "../../db/datetime.ts";
import { LEDGER_TABLES, NO_GENERATION } from "../coverage.ts";
import { TABLES } from "../tables.ts";
import { END, indexAfter, START } from "../timeline.ts";
import { computeChanges, writeChanges } from "./change.ts";
import { type Difference, ownDifference } from "./difference.ts";
import { readState, type State } from "./state.ts";
import { type Checkpoint, inShortTransaction, inSnapshot, readCheckpoints } from "./store.ts";

/** The number of charges that a slice should have. */
const SLICE = 20_000;
/** A slice counts as due this many ms early, so that a period of a second means every run. */
export const DUE_EARLY = 1_000;
/** A time at which every slice is due. */
const LONG_AGO = "1000-01-01 00:00:00.000";
/** Slices come earlier by up to this share of their interval, so that they spread out. */
const JITTER = 0.1;

/** When to check. */
export interface CheckOptions {
  /** The segment size, in charges. */
  readonly size: number;
  /** The database's clock, in epoch ms. */
  readonly now: number;
  /** The time within which the whole rollup is compared, in ms. */
  readonly period: number;
  /** How many slices of this rollup the run has compared before. Default: none. */
  readonly compared?: number;
  /** Called with each difference that was found and removed. */
  readonly repaired: (difference: Difference) => void;
}

/** What became of a check: whether more slices are due, or a new build is needed. */
export type Checked = "more" | "done" | "build";

/**
 * Compares the next slice of a provider's rollup with the ledger, and repairs it. If another run
 * changed the rollup in the meantime, nothing is written and the slice stays due.
 */
export async function checkSlice(
  database: Knex,
  provider: string,
  options: CheckOptions,
): Promise<Checked> {
  const found = await inSnapshot(database, async (reader) => {
    const state = await readState(reader, provider);
    // A watermark in the future is a case for a build, not for a comparison.
    if (state.generation === NO_GENERATION) return "done";
    if (fromDatetime(state.watermark) > options.now) return "done";
    const version = { provider, generation: state.generation };
    const [checkpoints = []] = await readCheckpoints(reader, [version]);
    if (checkpoints.at(-1)?.at !== END) return "incomplete";
    const slice = nextSlice(state, checkpoints, options);
    const touched = slice.indexes.map((index) => ({ index, tables: LEDGER_TABLES }));
    const scope = { ...version, state, checkpoints, touched, size: options.size };
    const [change = "build"] = await computeChanges(reader, [{ ...scope, until: state.watermark }]);
    return { change, slice };
  });
  if (found === "done") return "done";
  if (found === "incomplete") {
    options.repaired(ownDifference({ provider, from: START, to: END }, "rollup row"));
    return "build";
  }
  const { change, slice } = found;
  if (change === "build") return "build";
  const columns = { check_from: slice.next, check_at: slice.dueAt };
  const written = await inShortTransaction(database, (transaction) =>
    writeChanges(transaction, [change], columns),
  );
  if (written.length === 0) return "done";
  change.differences.forEach(options.repaired);
  return slice.moreDue ? "more" : "done";
}

/** Makes a provider's whole rollup due for a check. */
export async function scheduleCheck(database: Knex, provider: string): Promise<void> {
  await database(TABLES.state)
    .where({ provider_id: provider })
    .update({ check_from: START, check_at: LONG_AGO });
}

interface Slice {
  /** Its segments, by the indexes of the checkpoints at their ends. */
  readonly indexes: readonly number[];
  /** Event time at which the next slice begins. */
  readonly next: string;
  /** When the next slice is due. */
  readonly dueAt: string;
  readonly moreDue: boolean;
}

/** The next slice, and when the one after it is due. After a pause, several slices are due at once. */
function nextSlice(
  { checkFrom, checkAt }: State,
  checkpoints: readonly Checkpoint[],
  { size, now, period, compared = 0 }: CheckOptions,
): Slice {
  const segments = Math.max(1, Math.floor(SLICE / size));
  const slices = Math.ceil(checkpoints.length / segments);
  const interval = period / slices;
  const instants = checkpoints.map(({ at }) => at);
  const first = indexAfter(instants, checkFrom);
  const last = Math.min(first + segments, instants.length) - 1;
  const early = fromDatetime(checkAt) - now;
  // A time that lies more than a period away was set for another period.
  const due = Math.abs(early) > period + DUE_EARLY ? slices : 1 + (DUE_EARLY - early) / interval;
  const remaining = Math.max(1, Math.min(slices - compared, Math.floor(due))) - 1;
  const spread = remaining === 0 ? 1 - JITTER * Math.random() : 1;
  return {
    indexes: Array.from({ length: last - first + 1 }, (_, index) => first + index),
    next: last === instants.length - 1 ? START : (instants[last] ?? START),
    dueAt: toDatetime(Math.round(now + interval * (spread - remaining))),
    moreDue: remaining > 0,
  };
}
