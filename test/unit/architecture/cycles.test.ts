/** No file needs itself, by whatever way; an import of types counts too. */
import { expect, it } from "vitest";
import { sources } from "./source.ts";

/** The first cycle that each file lies on, as `a -> b -> a`. */
function cycleFrom(start: string): string | undefined {
  const importsOf = new Map(sources.map(({ path, imports }) => [path, imports]));
  const ways = [[start]];
  const seen = new Set<string>();
  for (const way of ways) {
    for (const next of importsOf.get(way.at(-1) ?? "") ?? []) {
      if (next === start) return [...way, next].join(" -> ");
      if (seen.has(next)) continue;
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return undefined;
}

it("there is no cycle of imports", () => {
  expect(sources.flatMap(({ path }) => cycleFrom(path) ?? [])).toEqual([]);
});
