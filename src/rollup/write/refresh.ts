/** Refreshing a rollup: moving its watermark forward, and adding what became covered. */
import type { Knex } from "knex";
import { joined, leavesOf } from "../leaves.ts";
import { readBoundaries } from "./boundaries.ts";
import { type Change, computeChange, MAX_CHANGED_LEAVES } from "./change.ts";
import { findDamage } from "./damage.ts";
import { damagedRollup, type Repair, writeRepairs } from "./repair.ts";
import { newSpans } from "./spans.ts";
import { inSnapshot, type Rollup, readRollups } from "./state.ts";

/** Up to so many stretches of hours with charges that became covered are compared alone, without their leaves. */
const MAX_HOURS = 256;

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
  const found = await inSnapshot(database, async (reader) => {
    const { current, build } = await readRollups(reader, provider);
    const rollup = building ? build : current;
    // Another run may have completed the build.
    if (rollup === undefined) return building ? "current" : "no rollup";
    return until <= rollup.watermark ? "current" : changeUpTo(reader, rollup, until);
  });
  if (found === "current") return { charges: 0 };
  if (typeof found === "string") return found;
  if ("damage" in found) {
    repaired(damagedRollup(provider, until, found.damage));
    return "damaged";
  }
  if (!(await writeRepairs(database, found, repaired))) return { charges: 0 };
  return { charges: chargesOf(found) };
}

/** The change that moves a rollup's watermark to `until`. */
async function changeUpTo(reader: Knex.Transaction, rollup: Rollup, until: string) {
  const damage = await findDamage(reader, rollup);
  if (damage) return { damage };
  const spans = await newSpans(reader, rollup, until);
  const leaves = leavesOf(spans, rollup.leaf);
  if (leaves.length > MAX_CHANGED_LEAVES) return "too large" as const;
  const first = leaves.map(({ from }) => from).sort()[0] ?? until;
  const boundaries = await readBoundaries(reader, rollup, first);
  const { charges = [], rentals = [] } = Object.groupBy(spans, ({ table }) => table);
  const hours = joined(leavesOf(charges, "PT1H"));
  const ends = new Set(leavesOf(rentals, rollup.leaf).map(({ to }) => to));
  const fresh = hours.length <= MAX_HOURS ? { hours, rentals: ends } : undefined;
  const compared = { leaves, stretches: joined(leaves), fresh };
  return computeChange(reader, rollup, boundaries, compared, until);
}

/** The number of charges that a change adds. */
export function chargesOf({ differences }: Change): number {
  const charges = differences.reduce((sum, difference) => sum + difference.charges, 0n);
  return Math.max(0, Number(charges));
}
