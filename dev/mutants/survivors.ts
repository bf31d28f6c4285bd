/**
 * The mutants that no test finds, each with its reason. A row whose mutant is gone fails the tests
 * (test/unit/dev/mutants.test.ts).
 */
import type { Mutant } from "./mutations.ts";

/** A fault that may stay: its line before and after, and why no test has to find it. */
export type Survivor = Pick<Mutant, "path" | "before" | "after"> & { readonly reason: string };

export const SURVIVORS: readonly Survivor[] = [
  {
    path: "src/cli/rollup-report.ts",
    before: "const FAILURE_WINDOW = 60_000;",
    after: "const FAILURE_WINDOW = 60001;",
    reason: "any window of this size is right; that there is one is tested",
  },
  {
    path: "src/cli/rollup-report.ts",
    before: "bar.show(progress);",
    after: ";",
    reason: "only a terminal shows it, and it is gone when the run ends",
  },
  {
    path: "src/cli/rollup-verify.ts",
    before: "const period = Math.min(flags.checkPeriod * 1_000, MAX_PERIOD);",
    after: "const period = Math.min(flags.checkPeriod * 1001, MAX_PERIOD);",
    reason: "any period is right that is far below a week; it makes the repairs due",
  },
  {
    path: "src/cli/rollup.ts",
    before: "...(watch !== undefined && { …",
    after:
      "...((watch !== undefined || { maxTime: watch * 1_000, step: margin * STEP * 1_000, counted, })),",
    reason:
      "they make runs shorter and rarer, and change no figure; what each does is tested in test/database/rollup/run",
  },
  {
    path: "src/gateway/compression.ts",
    before: "export const FASTEST: Levels = { br: 1, zstd: 1, gzip: 1 };",
    after: "export const FASTEST: Levels = { br: 2, zstd: 1, gzip: 1 };",
    reason: "what a level costs is measured in the benchmarks; every level is right",
  },
  {
    path: "src/revenue/breakdown/handler.ts",
    before: "const MAX_CACHED_ROWS = 250_000;",
    after: "const MAX_CACHED_ROWS = 250001;",
    reason: "any bound of this size is right; that the cache is bounded is tested with another",
  },
  {
    path: "src/revenue/daily/reader.ts",
    before: "last: boundary(starts.findLast((at) => at <= end + 1)),",
    after: "last: boundary(starts.findLast((at) => at <= end - 1)),",
    reason:
      "the last day, though whole, is then read from the ledger: the same figures, of one day",
  },
  {
    path: "src/rollup/write/additions.ts",
    before: "return stored.length - stored.findLastIndex((at) => at < leaf.to);",
    after: "return stored.length - stored.findLastIndex((at) => at <= leaf.to);",
    reason: "one row less in a count that a limit of half a million is compared with, about",
  },
  {
    path: "src/rollup/write/slice.ts",
    before: "const isLast = last === LAST_INSTANT && whole.length <= most;",
    after: "const isLast = last === LAST_INSTANT && whole.length < most;",
    reason: "of as many leaves as a slice may have, another slice follows, of nothing",
  },
  {
    path: "src/rollup/write/run/keys.ts",
    before: "await requireOneShard(database);",
    after: ";",
    reason: "it refuses a keyspace of Vitess alone, as test/vitess/shards.test.ts tries",
  },
];

/** Why no test has to find a mutant; undefined if one has to. */
export function reasonOf(mutant: Mutant): string | undefined {
  const { path, before, after } = mutant;
  return SURVIVORS.find((row) => row.path === path && row.before === before && row.after === after)
    ?.reason;
}
