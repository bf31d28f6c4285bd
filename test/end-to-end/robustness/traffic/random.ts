/** A seeded source of random numbers: the same seed gives the same numbers on every machine. */

/** Random choices. */
export interface Random {
  /** An integer from 0 to `bound` - 1. */
  below(bound: number): number;
  /** One of the items. Throws if there are none. */
  pick<T>(items: readonly T[]): T;
  bytes(length: number): Buffer;
}

/** The generator mulberry32: https://gist.github.com/tommyettinger/46a874533244883189143505d203312c */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number) => Math.floor(next() * bound);
  return {
    below,
    pick<T>(items: readonly T[]): T {
      if (items.length === 0) throw new Error("no items to pick from");
      return items[below(items.length)] as T;
    },
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
  };
}
