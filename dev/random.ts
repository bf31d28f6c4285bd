/** Random numbers from a seed: the same seed gives the same numbers on every machine. */

/** A random number generator. */
export interface Random {
  /** A number in [from, to). */
  between(from: number, to: number): number;
  /** An integer in [from, to). */
  integer(from: number, to: number): number;
  /** True with a probability from 0 to 1. */
  happens(probability: number): boolean;
  /** One of the items. Throws if there are none. */
  pick<T>(items: readonly T[]): T;
  bytes(length: number): Buffer;
  /** A string of hexadecimal digits. */
  hex(digits: number): string;
}

/** Creates the generator Mulberry32: https://gist.github.com/tommyettinger/46a874533244883189143505d203312c */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (from: number, to: number) => from + fraction() * (to - from);
  const integer = (from: number, to: number) => Math.floor(between(from, to));
  return {
    between,
    integer,
    happens: (probability) => fraction() < probability,
    pick<T>(items: readonly T[]): T {
      if (items.length === 0) throw new Error("no items to pick from");
      return items[integer(0, items.length)] as T;
    },
    bytes: (length) => Buffer.from(Array.from({ length }, () => integer(0, 256))),
    hex: (digits) => Array.from({ length: digits }, () => integer(0, 16).toString(16)).join(""),
  };
}
