/**
 * A cache of totals read from rollups, per provider. The totals of a rollup change only with its
 * generation, its watermark and its revision. Every statement that relies on cached totals also
 * selects these three in the same snapshot; if they differ, the caller discards the rows, evicts the
 * totals that may have changed, and reads them again.
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

/** Totals by provider. A provider has several entries: one for each edge of a period, for example. */
export interface TotalsCache<Totals> {
  /**
   * Of the provider's entries that `fits` accepts, the one of the largest `order`; of several, the
   * one most recently used. Default: all are equal.
   */
  get(
    provider: string,
    fits: (totals: Totals) => boolean,
    order?: (totals: Totals) => string,
  ): Cached<Totals> | undefined;
  /** Adds an entry. Evicts the provider's entries of another state, and those that `fits` accepts. */
  set(provider: string, entry: Cached<Totals>, fits: (totals: Totals) => boolean): void;
  /**
   * Declares what was found to be the provider's state. Of the entries of another one, those that
   * `isStable` accepts become entries of it, and the others are evicted.
   */
  revalidate(provider: string, found: State, isStable: (entry: Cached<Totals>) => boolean): void;
  /** Removes totals that are still there, also if `revalidate` has given them a new state. */
  evict(provider: string, ...entries: readonly Cached<Totals>[]): void;
}

/** The maximum number of rows in a cache. Least recently used providers are evicted first. */
const MAX_ROWS = 200_000;
/** The part of it that one provider may take. Its least recently used entries are evicted first. */
const MAX_PART_OF_PROVIDER = 1 / 2;
const MAX_ENTRIES_PER_PROVIDER = 16;
/** The memory of an entry or a provider beyond its rows, expressed in rows. */
const ENTRY_OVERHEAD = 10;
const PROVIDER_OVERHEAD = 1;

/** Creates an empty cache. `countRows` returns how many rows of memory the totals take. */
export function createTotalsCache<Totals>(
  countRows: (totals: Totals) => number,
  maxRows = MAX_ROWS,
): TotalsCache<Totals> {
  type Entries = readonly Cached<Totals>[];
  const sizeOf = (entries: Entries) =>
    entries.reduce(
      (sum, { totals }) => sum + ENTRY_OVERHEAD + countRows(totals),
      PROVIDER_OVERHEAD,
    );
  const cache = new LRUCache<string, Entries>({ maxSize: maxRows, sizeCalculation: sizeOf });
  const replace = (provider: string, entries: Entries) => {
    if (entries.length > 0) cache.set(provider, entries);
    else cache.delete(provider);
  };
  const evict = (provider: string, ...evicted: Entries) => {
    const entries = cache.get(provider) ?? [];
    const others = entries.filter(({ totals }) => evicted.every((one) => one.totals !== totals));
    if (others.length < entries.length) replace(provider, others);
  };
  return {
    get(provider, fits, order = () => "") {
      const entries = cache.get(provider) ?? [];
      const fitting = entries.filter(({ totals }) => fits(totals));
      const found = fitting.reduce<Cached<Totals> | undefined>(
        (best, entry) => (best && order(entry.totals) <= order(best.totals) ? best : entry),
        undefined,
      );
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
      while (sizeOf(entries) > maxRows * MAX_PART_OF_PROVIDER) entries.pop();
      cache.set(provider, entries);
    },
    revalidate(provider, found, isStable) {
      const entries = cache.get(provider) ?? [];
      if (entries.every((entry) => isCurrent(entry, found))) return;
      const kept = entries.filter((entry) => isCurrent(entry, found) || isStable(entry));
      replace(
        provider,
        kept.map(({ totals }) => ({ state: found, totals })),
      );
    },
    evict,
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
