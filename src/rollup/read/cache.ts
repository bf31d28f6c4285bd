/**
 * A cache of sums read from rollups: by provider, version of the rollup, and place. A version never comes again, so
 * sums are valid as long as they are asked for: an answer looks them up by the version of its facts.
 */
import { LRUCache } from "lru-cache";
import type { CurrentRollup } from "./facts.ts";

/** Sums by place: a text that tells everything that they depend on but provider and rollup. */
export interface SumsCache<Sums> {
  /** What is cached; undefined if it is not. Marks it as used. */
  get(provider: string, rollup: CurrentRollup, place: string): Sums | undefined;
  /** Adds sums. */
  put(provider: string, rollup: CurrentRollup, place: string, sums: Sums): void;
}

/** The memory of sums beyond their rows, expressed in rows. */
const OVERHEAD = 10;
/** How long sums are kept that nobody asks for, in ms. */
const MAX_IDLE = 10 * 60_000;

/**
 * Creates an empty cache. The least recently used sums are evicted first.
 *
 * @param countRows returns how many rows of memory sums take
 * @param maxRows the maximum number of rows in all
 */
export function createSumsCache<Sums extends {}>(
  countRows: (sums: Sums) => number,
  maxRows: number,
): SumsCache<Sums> {
  const cache = new LRUCache<string, Sums>({
    maxSize: maxRows,
    sizeCalculation: (sums) => OVERHEAD + countRows(sums),
    ttl: MAX_IDLE,
    updateAgeOnGet: true,
  });
  const keyOf = (provider: string, { version }: CurrentRollup, place: string) =>
    `${provider} ${version} ${place}`;
  return {
    get: (provider, rollup, place) => cache.get(keyOf(provider, rollup, place)),
    put(provider, rollup, place, sums) {
      cache.set(keyOf(provider, rollup, place), sums);
    },
  };
}
