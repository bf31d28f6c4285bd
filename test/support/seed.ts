/**
 * The seed of what tests draw at random: another one in each run (vitest.config.ts), and `SEED` repeats one. A
 * test that draws has it in its name, so that a failure prints it, and its file has a stream of its own.
 */
import fc from "fast-check";
import type { Random } from "../../dev/random.ts";

export const SEED = Number(process.env.SEED);

/** For the name of a test. */
export const SEEDED = `(SEED=${SEED})`;

/** Draws values. What is drawn next is something else. */
export function draw<T>(random: Random, arbitrary: fc.Arbitrary<T>, count: number): T[] {
  return fc.sample(arbitrary, { seed: random.integer(0, 2 ** 31), numRuns: count });
}
