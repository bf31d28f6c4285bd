/**
 * A cache of totals read from rollups, per provider. The totals of a rollup change only with its
 * generation, its watermark and its revision. Every statement that relies on cached totals also
 * selects these three in the same snapshot; if they differ, the caller evicts the totals, discards
 * the rows and runs the full query.
 */
import { LRUCache } from "lru-cache";
import type { UsedRollup } from "../coverage.ts";

/** What identifies the content of a rollup. */
type State = Omit<UsedRollup, "ahead">;

/** Cached totals, and the state of the rollup that they were read from. */
export interface Cached<Totals> {
  readonly state: State;
  readonly totals: Totals;
}

/** Totals by provider. A provider has several entries: one for each period, for example. */
export interface TotalsCache<Totals> {
  /** The most recently used entry of the provider that `fits` accepts, if there is one. */
  get(provider: string, fits: (totals: Totals) => boolean): Cached<Totals> | undefined;
  /** Adds an entry. Evicts the provider's entries of another state, and those that `fits` accepts. */
  set(provider: string, entry: Cached<Totals>, fits: (totals: Totals) => boolean): void;
  /** Removes an entry, if it is still there. */
  evict(provider: string, entry: Cached<Totals>): void;
  /** Runs a statement that uses an entry. Evicts the entry if it fails after `SLOW` or later. */
  whileUsing<T>(provider: string, entry: Cached<Totals>, run: () => Promise<T>): Promise<T>;
}

/** The maximum number of rows in the cache. Least recently used providers are evicted first. */
const MAX_ROWS = 200_000;
/** The maximum for one provider. Least recently used entries are evicted first. */
const MAX_ROWS_PER_PROVIDER = 50_000;
const MAX_ENTRIES_PER_PROVIDER = 8;
/** The memory of an entry or a provider beyond its rows, expressed in rows. */
const ENTRY_OVERHEAD = 10;
const PROVIDER_OVERHEAD = 1;

/**
 * The time in ms from which a failed statement costs the totals that it used their place: the next
 * one reads all of it anew. A caller with a deadline shorter than this evicts nothing, or each of
 * its calls would make the next one slower.
 */
const SLOW = 1_000;

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
  const evict = (provider: string, entry: Cached<Totals>) => {
    const entries = cache.get(provider);
    if (!entries?.includes(entry)) return;
    const others = entries.filter((other) => other !== entry);
    if (others.length > 0) cache.set(provider, others);
    else cache.delete(provider);
  };
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
        (other) => isCurrent(other, entry.state) && !fits(other.totals),
      );
      const entries = [entry, ...others].slice(0, MAX_ENTRIES_PER_PROVIDER);
      while (sizeOf(entries) > MAX_ROWS_PER_PROVIDER) entries.pop();
      cache.set(provider, entries);
    },
    evict,
    async whileUsing(provider, entry, run) {
      const startedAt = performance.now();
      try {
        return await run();
      } catch (error) {
        if (performance.now() - startedAt >= SLOW) evict(provider, entry);
        throw error;
      }
    },
  };
}

/** Whether a statement found the rollup in the state that the cached totals were read from. */
export function isCurrent({ state }: Cached<unknown>, found: State): boolean {
  return (
    state.generation === found.generation &&
    state.watermark === found.watermark &&
    state.revision === found.revision
  );
}
