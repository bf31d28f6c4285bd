/**
 * A cache of sums read from rollups: by provider, version of the rollup, and place. A version never comes again, so
 * sums are valid as long as they are asked for: an answer looks them up by the version of its facts.
 */
import { LRUCache } from "lru-cache";
import type { CurrentRollup } from "./facts.ts";

/** Sums by place: a text that tells everything that they depend on but provider and rollup. */
export interface SumsCache<Sums> {
  /** What is cached; undefined if it is not. Marks it as used, and tells whether it was. */
  get(provider: string, rollup: CurrentRollup, place: string): Sums | undefined;
  /** Adds sums. What is cached of another version is evicted. */
  put(provider: string, rollup: CurrentRollup, place: string, sums: Sums): void;
}

/** The sums of a provider. */
interface Cached<Sums> {
  readonly version: string;
  /** The least recently used come first. */
  readonly byPlace: Map<string, Sums>;
}

/** The part of a cache that one provider may take. Its least recently used sums are evicted first. */
const MAX_PART_OF_PROVIDER = 1 / 2;
const MAX_PLACES_PER_PROVIDER = 16;
/** The memory of sums beyond their rows, and of a provider, expressed in rows. */
const OVERHEAD = 10;
/** How long the sums of a provider that does not ask are kept, in ms. */
const MAX_IDLE = 10 * 60_000;

/**
 * Creates an empty cache. Least recently used providers are evicted first.
 *
 * @param countRows returns how many rows of memory sums take
 * @param maxRows the maximum number of rows in all
 * @param observe called with each lookup: whether it found any
 */
export function createSumsCache<Sums>(
  countRows: (sums: Sums) => number,
  maxRows: number,
  observe: (hit: boolean) => void = () => {},
): SumsCache<Sums> {
  const sizeOf = ({ byPlace }: Cached<Sums>) =>
    byPlace.values().reduce((size, sums) => size + OVERHEAD + countRows(sums), OVERHEAD);
  const cache = new LRUCache<string, Cached<Sums>>({
    maxSize: maxRows,
    sizeCalculation: sizeOf,
    ttl: MAX_IDLE,
    updateAgeOnGet: true,
  });
  return {
    get(provider, { version }, place) {
      const cached = cache.get(provider);
      const sums = cached?.version === version ? cached.byPlace.get(place) : undefined;
      observe(sums !== undefined);
      if (cached === undefined || sums === undefined) return undefined;
      cached.byPlace.delete(place);
      cached.byPlace.set(place, sums);
      return sums;
    },
    put(provider, { version }, place, sums) {
      const cached = cache.get(provider);
      const byPlace = new Map(cached?.version === version ? cached.byPlace : []);
      byPlace.delete(place);
      byPlace.set(place, sums);
      const isTooLarge = () => sizeOf({ version, byPlace }) > maxRows * MAX_PART_OF_PROVIDER;
      for (const oldest of byPlace.keys()) {
        if (byPlace.size <= MAX_PLACES_PER_PROVIDER && !isTooLarge()) break;
        byPlace.delete(oldest);
      }
      cache.set(provider, { version, byPlace });
    },
  };
}
