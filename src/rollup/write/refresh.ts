/**
 * Refreshing a provider's rollup: moving its watermark forward, and adding the rows that became
 * covered. The change is computed in one snapshot and written in one short transaction.
 */
import type { Knex } from "knex";
import { LEDGER_TABLES, NO_GENERATION } from "../coverage.ts";
import { END, segmentsOf } from "../timeline.ts";
import { type Change, computeChange, writeChange } from "./change.ts";
import type { Difference } from "./difference.ts";
import { changedSpans } from "./ledger/changed-spans.ts";
import { inShortTransaction, inSnapshot, readCheckpoints, readState } from "./store.ts";
import { chargesOf } from "./totals-by-key.ts";

/**
 * Moves a provider's watermark forward to `until`. Writes nothing if the rollup already has this
 * watermark or a later one, or if another run changed it in the meantime.
 *
 * @param size the segment size, in charges
 * @param repaired called with each difference that was found and removed on the way
 * @returns the number of charges added; "build" if there is no rollup or the change is too large,
 *   so that a build is needed
 */
export async function refresh(
  database: Knex,
  provider: string,
  until: string,
  size: number,
  repaired: (difference: Difference) => void = () => {},
): Promise<number | "build"> {
  const change = await inSnapshot(database, (reader) => changeUpTo(reader, provider, until, size));
  if (change === "build") return "build";
  if (change === "current") return 0;
  const written = await inShortTransaction(database, (transaction) =>
    writeChange(transaction, change),
  );
  if (!written) return 0;
  change.differences.forEach(repaired);
  return change.additions.reduce((sum, { totals }) => sum + chargesOf(totals), 0);
}

async function changeUpTo(
  reader: Knex.Transaction,
  provider: string,
  until: string,
  size: number,
): Promise<Change | "current" | "build"> {
  const state = await readState(reader, provider);
  if (state.generation === NO_GENERATION) return "build";
  if (until <= state.watermark) return "current";
  const version = { provider, generation: state.generation };
  const checkpoints = await readCheckpoints(reader, version);
  if (checkpoints.at(-1)?.at !== END) return "build";
  const instants = checkpoints.map(({ at }) => at);
  const spans = await changedSpans(reader, provider, state, until);
  const byTable = LEDGER_TABLES.map((table) => new Set(segmentsOf(spans[table], instants)));
  const indexes = byTable.reduce((all, indexes) => all.union(indexes));
  const touched = [...indexes]
    .sort((left, right) => left - right)
    .map((index) => ({ index, tables: LEDGER_TABLES.filter((_, at) => byTable[at]?.has(index)) }));
  const { months } = spans;
  return computeChange(reader, { provider, state, checkpoints, touched, until, size, months });
}
