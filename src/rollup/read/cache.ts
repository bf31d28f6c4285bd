/**
 * A cache of sums read from rollups, per provider. They are valid as long as the rollup has the version
 * that they were read with: every statement that relies on them also selects the version, in its own
 * snapshot. If that is another one, the caller discards the rows and reads the sums again.
 */
import { LRUCache } from "lru-cache";
import { NO_VERSION, type UsedRollup } from "../coverage.ts";

/** What is cached of a provider. */
export interface Cached<Sums> {
  readonly rollup: UsedRollup;
  /** The most recently used come first. */
  readonly sums: readonly Sums[];
}

/** Sums by provider. */
export interface SumsCache<Sums> {
  /** What is cached of a provider. Marks it as used. */
  get(provider: string): Cached<Sums> | undefined;
  /**
   * Adds sums, or marks them as used. What is cached of another version is evicted. Without a rollup there is
   * nothing to keep.
   */
  put(provider: string, rollup: UsedRollup, ...sums: readonly Sums[]): void;
}

/** The part of a cache that one provider may take. Its least recently used sums are evicted first. */
const MAX_PART_OF_PROVIDER = 1 / 2;
const MAX_SUMS_PER_PROVIDER = 16;
/** The memory of sums beyond their rows, and of a provider, expressed in rows. */
const OVERHEAD = 10;

/**
 * How long sums are kept without a use, in ms. A statement that completes sums of an old version reads in vain
 * what came since then.
 */
const MAX_IDLE = 10 * 60_000;

/**
 * Creates an empty cache. Least recently used providers are evicted first.
 *
 * @param countRows returns how many rows of memory sums take
 * @param maxRows the maximum number of rows in all
 * @param merge returns what two sums of one place are together; undefined if they are of two. Default: all
 *   are of one, and the newer ones are kept
 */
export function createSumsCache<Sums>(
  countRows: (sums: Sums) => number,
  maxRows: number,
  merge: (newer: Sums, older: Sums) => Sums | undefined = (newer) => newer,
): SumsCache<Sums> {
  const sizeOf = ({ sums }: Cached<Sums>) =>
    sums.reduce((size, each) => size + OVERHEAD + countRows(each), OVERHEAD);
  const cache = new LRUCache<string, Cached<Sums>>({
    maxSize: maxRows,
    sizeCalculation: sizeOf,
    ttl: MAX_IDLE,
    updateAgeOnGet: true,
  });
  return {
    get: (provider) => cache.get(provider),
    put(provider, rollup, ...added) {
      if (rollup.version === NO_VERSION) {
        cache.delete(provider);
        return;
      }
      const cached = cache.get(provider);
      const others = cached?.rollup.version === rollup.version ? cached.sums : [];
      const sums = others.slice();
      for (const each of added.toReversed()) {
        const place = sums.findIndex((known) => merge(each, known) !== undefined);
        const [known] = place < 0 ? [] : sums.splice(place, 1);
        sums.unshift((known && merge(each, known)) ?? each);
      }
      sums.splice(MAX_SUMS_PER_PROVIDER);
      while (sizeOf({ rollup, sums }) > maxRows * MAX_PART_OF_PROVIDER) sums.pop();
      cache.set(provider, { rollup, sums });
    },
  };
}
