/** No file imports itself, directly or indirectly. Imports of types count. */
import { expect, it } from "vitest";
import { sources } from "./source.ts";

/** The shortest cycle of imports through a file, as `a -> b -> a`; undefined if there is none. */
function cycleFrom(start: string): string | undefined {
  const importsOf = new Map(sources.map(({ path, imports }) => [path, imports]));
  const chains = [[start]];
  const seen = new Set<string>();
  for (const chain of chains) {
    for (const next of importsOf.get(chain.at(-1) ?? "") ?? []) {
      if (next === start) return [...chain, next].join(" -> ");
      if (seen.has(next)) continue;
      seen.add(next);
      chains.push([...chain, next]);
    }
  }
  return undefined;
}

it("there is no cycle of imports", () => {
  expect(sources.flatMap(({ path }) => cycleFrom(path) ?? [])).toEqual([]);
});
