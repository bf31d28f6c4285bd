/**
 * A cache of totals read from rollups, per provider. The totals of a rollup change only with its
 * generation and its watermark. Every statement that relies on cached totals also selects these
 * two in the same snapshot; if they differ, the caller discards the rows and runs the full query.
 */
import { LRUCache } from "lru-cache";
import type { RollupState } from "../coverage.ts";

/** Cached totals, and the state of the rollup that they were read from. */
export interface Cached<Totals> {
  readonly state: RollupState;
  readonly totals: Totals;
}

/** Totals by provider. A provider has several entries: one for each period, for example. */
export interface TotalsCache<Totals> {
  /** The most recently used entry of the provider that `fits` accepts, if there is one. */
  get(provider: string, fits: (totals: Totals) => boolean): Cached<Totals> | undefined;
  /** Adds an entry. Evicts the provider's entries of another state, and those that `fits` accepts. */
  set(provider: string, entry: Cached<Totals>, fits: (totals: Totals) => boolean): void;
}

/** The maximum number of rows in the cache. Least recently used providers are evicted first. */
const MAX_ROWS = 200_000;
/** The maximum for one provider. Least recently used entries are evicted first. */
const MAX_ROWS_PER_PROVIDER = 50_000;
const MAX_ENTRIES_PER_PROVIDER = 8;
/** The memory of an entry or a provider beyond its rows, expressed in rows. */
const ENTRY_OVERHEAD = 10;
const PROVIDER_OVERHEAD = 1;

/** Creates an empty cache. `countRows` returns how many rows of memory the totals take. */
export function createTotalsCache<Totals>(
  countRows: (totals: Totals) => number,
): TotalsCache<Totals> {
  type Entries = readonly Cached<Totals>[];
  const sizeOf = (entries: Entries) =>
    entries.reduce(
      (sum, { totals }) => sum + ENTRY_OVERHEAD + countRows(totals),
      PROVIDER_OVERHEAD,
    );
  const cache = new LRUCache<string, Entries>({ maxSize: MAX_ROWS, sizeCalculation: sizeOf });
  return {
    get(provider, fits) {
      const entries = cache.get(provider) ?? [];
      const found = entries.find(({ totals }) => fits(totals));
      if (found && found !== entries[0]) {
        cache.set(provider, [found, ...entries.filter((other) => other !== found)]);
      }
      return found;
    },
    set(provider, entry, fits) {
      const others = (cache.get(provider) ?? []).filter(
        (other) => isCurrent(other, [entry.state]) && !fits(other.totals),
      );
      const entries = [entry, ...others].slice(0, MAX_ENTRIES_PER_PROVIDER);
      while (sizeOf(entries) > MAX_ROWS_PER_PROVIDER) entries.pop();
      cache.set(provider, entries);
    },
  };
}

/** Whether a statement found the rollup in the state that the cached totals were read from. */
export function isCurrent({ state }: Cached<unknown>, [found]: readonly RollupState[]): boolean {
  return state.generation === found?.generation && state.watermark === found.watermark;
}
