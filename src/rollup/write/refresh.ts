/**
 * Refreshing rollups: moving their watermarks forward, and adding the rows that became covered. The
 * changes are computed in one snapshot and written in one short transaction. Several small rollups
 * share them: most of the cost of a refresh is that of its statements, however little they do.
 */
import type { Knex } from "knex";
import { LEDGER_TABLES, NO_GENERATION } from "../coverage.ts";
import { END, segmentsOf } from "../timeline.ts";
import { type Change, computeChanges, writeChanges } from "./change.ts";
import type { Difference } from "./difference.ts";
import { changedSpans } from "./ledger/changed-spans.ts";
import type { Scope } from "./ledger/comparison.ts";
import { readStates } from "./state.ts";
import { inShortTransaction, inSnapshot, readCheckpoints } from "./store.ts";
import { chargesOf } from "./totals-by-key.ts";

/** A rollup to refresh. */
export interface ToRefresh {
  readonly provider: string;
  /** The segment size, in charges. */
  readonly size: number;
}

/**
 * Moves watermarks forward to `until`. Writes nothing for a rollup that already has this watermark
 * or a later one, or that another run changed in the meantime.
 *
 * @param repaired called with each difference that was found and removed on the way
 * @returns the number of charges added, for each rollup in turn; "build" if there is none or the
 *   change is too large, so that a build is needed
 */
export async function refresh(
  database: Knex,
  rollups: readonly ToRefresh[],
  until: string,
  repaired: (difference: Difference) => void = () => {},
): Promise<(number | "build")[]> {
  const computed = await inSnapshot(database, (reader) => changesUpTo(reader, rollups, until));
  const changes = computed.filter((change) => typeof change === "object");
  const write = (transaction: Knex.Transaction) => writeChanges(transaction, changes);
  const written = changes.length > 0 ? await inShortTransaction(database, write) : [];
  for (const { differences } of written) differences.forEach(repaired);
  return computed.map((change) => {
    if (change === "build") return "build";
    if (change === "current" || !written.includes(change)) return 0;
    return change.additions.reduce((sum, { totals }) => sum + chargesOf(totals), 0);
  });
}

/** The change of each rollup; "current" if its watermark is not behind. */
async function changesUpTo(
  reader: Knex.Transaction,
  rollups: readonly ToRefresh[],
  until: string,
): Promise<(Change | "current" | "build")[]> {
  const states = await readStates(
    reader,
    rollups.map(({ provider }) => provider),
  );
  const versions = rollups.flatMap((rollup, nth) => {
    const state = states[nth];
    if (!state || state.generation === NO_GENERATION || until <= state.watermark) return [];
    return { ...rollup, state, generation: state.generation, watermark: state.watermark };
  });
  const checkpoints = await readCheckpoints(reader, versions);
  const found = versions
    .map((version, nth) => ({ ...version, checkpoints: checkpoints[nth] ?? [] }))
    .filter(({ checkpoints }) => checkpoints.at(-1)?.at === END);
  const spans = await changedSpans(reader, found, until);
  const scopes = found.map(({ checkpoints, ...version }, nth): Scope => {
    const { months, ...changed } = spans[nth] ?? { charges: [], rentals: [], months: new Map() };
    const instants = checkpoints.map(({ at }) => at);
    const byTable = LEDGER_TABLES.map((table) => new Set(segmentsOf(changed[table], instants)));
    const indexes = byTable.reduce((all, indexes) => all.union(indexes));
    const touched = [...indexes]
      .sort((left, right) => left - right)
      .map((index) => ({
        index,
        tables: LEDGER_TABLES.filter((_, at) => byTable[at]?.has(index)),
      }));
    return { ...version, checkpoints, touched, until, months };
  });
  const changes = await computeChanges(reader, scopes);
  const byProvider = new Map(scopes.map(({ provider }, nth) => [provider, changes[nth]]));
  return rollups.map(({ provider }, nth) => {
    const { generation = NO_GENERATION, watermark = "" } = states[nth] ?? {};
    if (generation !== NO_GENERATION && until <= watermark) return "current";
    return byProvider.get(provider) ?? "build";
  });
}
