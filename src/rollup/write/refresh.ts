/** Refreshing a rollup: moving its watermark forward, and adding what became covered. */
import type { Knex } from "knex";
import { type Leaf, leavesOf } from "../leaves.ts";
import { isDamaged, readBoundaries, readStored } from "./boundaries.ts";
import { type Change, computeChange, MAX_CHANGED_LEAVES } from "./change.ts";
import { damagedRollup, type Repair, writeRepairs } from "./repair.ts";
import { newSpans } from "./spans.ts";
import { inSnapshot, type Rollup, readRollups } from "./state.ts";

/** How many leaves a refresh looks at again for rows that were committed late. */
const MAX_LATE_LEAVES = 10;

/** What a refresh came to: the charges that it added, or why the rollup has to be built anew. */
export type Refreshed = { readonly charges: number } | "no rollup" | "damaged" | "too large";

/** How to refresh. */
export interface RefreshOptions {
  /** Whether to refresh the rollup that is being built. Default: the current one. */
  readonly building?: boolean;
  /** Called with each difference that was found and removed on the way. */
  readonly repaired?: (repair: Repair) => void;
}

/**
 * Moves the watermark of a provider's rollup forward to `until`. Writes nothing if it is there already,
 * or if another run changed the rollup in the meantime.
 */
export async function refresh(
  database: Knex,
  provider: string,
  until: string,
  { building = false, repaired = () => {} }: RefreshOptions = {},
): Promise<Refreshed> {
  const change = await inSnapshot(database, async (reader) => {
    const { current, build } = await readRollups(reader, provider);
    const rollup = building ? build : current;
    // Another run may have completed the build.
    if (rollup === undefined) return building ? "current" : "no rollup";
    return until <= rollup.watermark ? "current" : changeUpTo(reader, rollup, until);
  });
  if (change === "current") return { charges: 0 };
  if (change === "damaged") repaired(damagedRollup(provider, until));
  if (typeof change === "string") return change;
  if (!(await writeRepairs(database, change, repaired))) return { charges: 0 };
  return { charges: chargesOf(change) };
}

/** The change that moves a rollup's watermark to `until`. */
async function changeUpTo(
  reader: Knex.Transaction,
  rollup: Rollup,
  until: string,
): Promise<Change | "too large" | "damaged"> {
  if (await isDamaged(reader, rollup)) return "damaged";
  const { covered, late } = await newSpans(reader, rollup, until);
  const { leaf } = rollup;
  const latest = distinct(late.flatMap((span) => leavesOf([span], leaf)));
  const leaves = distinct([...leavesOf(covered, leaf), ...latest.slice(0, MAX_LATE_LEAVES)]);
  if (leaves.length > MAX_CHANGED_LEAVES) return "too large";
  const first = leaves.map(({ from }) => from).sort()[0] ?? until;
  const boundaries = await readBoundaries(reader, rollup, first);
  const stored = await readStored(reader, rollup, boundaries, leaves);
  return computeChange(reader, rollup, stored, { leaves, stretches: leaves }, until);
}

/** The leaves without repetitions. */
function distinct(leaves: readonly Leaf[]): Leaf[] {
  return [...new Map(leaves.map((leaf) => [leaf.to, leaf])).values()];
}

/** The number of charges that a change adds. */
export function chargesOf({ differences }: Change): number {
  const owners = differences.filter(({ total }) => !total);
  const charges = owners.reduce((sum, difference) => sum + difference.charges, 0n);
  return Math.max(0, Number(charges));
}
