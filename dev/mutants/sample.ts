/** Which mutants are tried: a choice by a seed that hardly changes when the code does. */
import { hash } from "node:crypto";
import type { Mutant } from "./mutations.ts";

/**
 * So many mutants, by path and line. Each has a rank by the seed and by what it is, not by where it is: while
 * its line stays the same, it stays chosen, so that the survivors of two commits may be compared.
 */
export function sample(mutants: readonly Mutant[], count: number, seed: number): Mutant[] {
  const seen = new Map<string, number>();
  const ranked = mutants.map((mutant) => {
    const identity = `${mutant.path} ${mutant.operator} ${mutant.before} ${mutant.after}`;
    const times = (seen.get(identity) ?? 0) + 1;
    seen.set(identity, times);
    return { mutant, rank: hash("sha256", `${seed} ${identity} ${times}`) };
  });
  const chosen = ranked.toSorted((a, b) => (a.rank < b.rank ? -1 : 1)).slice(0, count);
  const isChosen = new Set(chosen.map(({ mutant }) => mutant));
  return mutants.filter((mutant) => isChosen.has(mutant));
}
