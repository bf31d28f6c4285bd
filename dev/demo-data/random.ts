/** Random that repeats itself: the same seed, the same demo data. */

/** A source of random. */
export interface Random {
  /** A number from `from` up to, but not including, `to`. */
  between(from: number, to: number): number;
  /** A whole number from `from` up to, but not including, `to`. */
  integer(from: number, to: number): number;
  /** True in this share of the cases, 0 to 1. */
  happens(share: number): boolean;
  /** As many hexadecimal digits. */
  hex(digits: number): string;
}

/** Random from the 32-bit generator Mulberry32: short, quick, and even enough to look at. */
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
    happens: (share) => fraction() < share,
    hex: (digits) => Array.from({ length: digits }, () => integer(0, 16).toString(16)).join(""),
  };
}
