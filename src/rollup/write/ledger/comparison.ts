/** Comparing segments of rollups with the ledger. */
import type { Knex } from "knex";
import type { LedgerTable } from "../../coverage.ts";
import { START } from "../../timeline.ts";
import type { State } from "../state.ts";
import { type Checkpoint, readTotalsAt, type Version } from "../store.ts";
import { minus, partOf, type TotalsByKey } from "../totals-by-key.ts";
import { compareHeld, type HeldChange } from "./held-rentals.ts";
import type { Segment } from "./segment.ts";
import { sumSegments } from "./sums.ts";

/** The maximum number of segments compared at once, and of rows of totals read for them. */
const [BATCH_SEGMENTS, BATCH_ROWS] = [64, 50_000];

/** A segment to compare, by the index of the checkpoint at its end. */
export interface Touched {
  readonly index: number;
  /** The tables of which rows are to be compared. */
  readonly tables: readonly LedgerTable[];
}

/** What to compare of a provider's rollup. */
export interface Scope extends Version {
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

/** A segment that was compared. */
export interface Compared {
  readonly scope: Scope;
  /** The index of the checkpoint at its end. */
  readonly index: number;
  readonly segment: Segment;
  /** The stored totals at its start and at its end. */
  readonly before: TotalsByKey;
  readonly after: TotalsByKey;
  /** What the ledger has and the rollup lacks; negative if it has more. */
  readonly addition: TotalsByKey;
  /** What the ledger has. */
  readonly sums: TotalsByKey;
  /** The part of it that was written, or ended, after the earlier watermark. */
  readonly fresh: TotalsByKey;
  /** What the list of rentals lacks, of those that end in the segment, and has too many. */
  readonly held: HeldChange;
}

/**
 * Compares segments with the ledger, in batches.
 *
 * @param skipped asked before each batch: whether the remaining segments of a scope are left out
 */
export async function* compareSegments(
  reader: Knex.Transaction,
  scopes: readonly Scope[],
  skipped: (scope: Scope) => boolean = () => false,
): AsyncGenerator<Compared> {
  let remaining = scopes.flatMap((scope) =>
    scope.touched.map(({ index, tables }) => {
      const { provider, generation, checkpoints, until } = scope;
      const from = checkpoints[index - 1]?.at ?? START;
      const covered = { provider, generation, watermark: until, since: scope.state.watermark };
      return { ...covered, from, to: checkpoints[index]?.at ?? "", index, tables, scope };
    }),
  );
  const largest = Math.max(1, ...scopes.map(({ size }) => size));
  const batch = Math.min(BATCH_SEGMENTS, Math.max(1, Math.floor(BATCH_ROWS / largest)));
  while (remaining.length > 0) {
    const segments = remaining.slice(0, batch);
    const points = segments.flatMap(({ from, to, ...version }) => [
      { ...version, at: from },
      { ...version, at: to },
    ]);
    const totalsAt = await readTotalsAt(reader, points);
    const sums = await sumSegments(reader, segments);
    const held = await compareHeld(reader, segments);
    for (const [nth, { scope, index, tables, provider, from, to }] of segments.entries()) {
      const [before = new Map(), after = new Map()] = totalsAt.slice(2 * nth);
      const { totals, fresh } = sums[nth] ?? { totals: new Map(), fresh: new Map() };
      const addition = partOf(minus(totals, minus(after, before)), tables);
      const found = held[nth] ?? { missing: [], surplus: [] };
      const segment = { provider, from, to };
      yield { scope, index, segment, before, after, addition, sums: totals, fresh, held: found };
    }
    remaining = remaining.slice(batch).filter(({ scope }) => !skipped(scope));
  }
}
