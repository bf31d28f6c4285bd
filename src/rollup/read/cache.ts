/**
 * What was read of the providers' rollups, remembered. What a rollup holds changes with its
 * generation and its watermark alone, and every statement that relies on the cache also reads
 * these two, in the same snapshot: where they are no longer what they were, its rows are
 * thrown away, and the whole is asked.
 */
import { LRUCache } from "lru-cache";

/** Which rollup it was that something was read from. */
export interface RollupState {
  /** "0" without one. */
  readonly generation: string;
  /** Until which recording time it holds everything, as the database writes it. */
  readonly watermark: string;
}

/** A part of a provider's rollup, and the state that it was read in. */
export interface Cached<Part> {
  readonly state: RollupState;
  readonly part: Part;
}

export interface TotalsCache<Part> {
  /** A part of the provider's rollup that fits, if there is one. */
  get(provider: string, fits: (part: Part) => boolean): Cached<Part> | undefined;
  /**
   * Remembers a part. Forgets those that were read in another state, and those that fit what
   * this one was read for.
   */
  set(provider: string, remembered: Cached<Part>, fits: (part: Part) => boolean): void;
}

/** How many rows of rollups are remembered in all; the providers that did not ask for longest go first. */
const MOST_ROWS = 200_000;
/** How many rows and parts of one provider are; the parts that were not asked for longest go first. */
const MOST_ROWS_OF_ONE = 50_000;
const MOST_PARTS = 8;
/** How many rows a part weighs besides its own. */
const PART = 10;

/** Makes an empty cache of parts. @param rowsOf how many rows a part takes the place of */
export function createTotalsCache<Part>(rowsOf: (part: Part) => number): TotalsCache<Part> {
  type Parts = readonly Cached<Part>[];
  const sizeOf = (parts: Parts) => parts.reduce((sum, { part }) => sum + PART + rowsOf(part), 1);
  const cache = new LRUCache<string, Parts>({ maxSize: MOST_ROWS, sizeCalculation: sizeOf });
  return {
    get(provider, fits) {
      const parts = cache.get(provider) ?? [];
      const found = parts.find(({ part }) => fits(part));
      if (found && found !== parts[0]) {
        cache.set(provider, [found, ...parts.filter((other) => other !== found)]);
      }
      return found;
    },
    set(provider, remembered, fits) {
      const others = (cache.get(provider) ?? []).filter(
        (other) => isSame(other, remembered) && !fits(other.part),
      );
      const parts = [remembered, ...others].slice(0, MOST_PARTS);
      while (sizeOf(parts) > MOST_ROWS_OF_ONE) parts.pop();
      cache.set(provider, parts);
    },
  };
}

/** Whether an answer saw the rollup in the state in which the part was read. */
export function isCurrent({ state }: Cached<unknown>, [seen]: readonly RollupState[]): boolean {
  return (
    seen !== undefined && state.generation === seen.generation && state.watermark === seen.watermark
  );
}

function isSame(one: Cached<unknown>, other: Cached<unknown>): boolean {
  return isCurrent(one, [other.state]);
}
