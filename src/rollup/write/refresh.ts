/** Refreshing a rollup: moving its watermark forward, and adding what became covered. */
import type { Knex } from "knex";
import { joined, stretchesOf } from "../stretches.ts";
import { readBoundaries } from "./boundaries.ts";
import { type Change, computeChange, MAX_CHANGED_LEAVES, writeChange } from "./change.ts";
import { findDamage } from "./damage.ts";
import { type Fresh, readFresh } from "./fresh.ts";
import { type Repair, rebuildOf, repairOf } from "./repair.ts";
import { inSnapshot, type Rollup, readRollups } from "./state.ts";

/** Up to so many stretches of hours with charges that became covered are compared alone, without their leaves. */
const MAX_HOURS = 256;

/** What a refresh came to. */
export interface Refreshed {
  /** The number of charges added. */
  readonly charges: number;
  readonly repair?: Repair | undefined;
  /** Why the rollup has to be built anew, if so. */
  readonly rebuild?: "no rollup" | "damaged" | "too large";
}

/**
 * Moves the watermark of a provider's rollup forward to `until`. Writes nothing if it is there already,
 * or if another run changed the rollup in the meantime.
 *
 * @param building whether to refresh the rollup that is being built, and not the current one
 */
export async function refresh(
  database: Knex,
  provider: string,
  until: string,
  building = false,
): Promise<Refreshed> {
  const found = await inSnapshot(database, async (reader) => {
    const { current, build } = await readRollups(reader, provider);
    const rollup = building ? build : current;
    // Another run may have completed the build.
    if (rollup === undefined) return building ? "current" : "no rollup";
    return until <= rollup.watermark ? "current" : changeUpTo(reader, rollup, until);
  });
  if (found === "current") return { charges: 0 };
  if (found === "damaged") {
    return { charges: 0, rebuild: found, repair: rebuildOf(provider, DAMAGED) };
  }
  if (typeof found === "string") return { charges: 0, rebuild: found };
  if (!(await writeChange(database, found))) return { charges: 0 };
  return { charges: chargesOf(found), repair: repairOf(found) };
}

/** Why a rollup whose rows contradict each other is built anew. */
export const DAMAGED = "rows of the rollup were changed or lost";

const atOf = ({ at }: Fresh) => at;

/** The change that moves a rollup's watermark to `until`. */
async function changeUpTo(reader: Knex.Transaction, rollup: Rollup, until: string) {
  if (await findDamage(reader, rollup)) return "damaged" as const;
  const rows = await readFresh(reader, rollup, until);
  const leaves = stretchesOf(rows.map(atOf), rollup.leaf);
  if (leaves.length > MAX_CHANGED_LEAVES) return "too large" as const;
  const first = leaves.map(({ from }) => from).sort()[0] ?? until;
  const stored = await readBoundaries(reader, rollup, first);
  const { charges = [], rentals = [] } = Object.groupBy(rows, ({ table }) => table);
  const hours = joined(stretchesOf(charges.map(atOf), "PT1H"));
  const ends = new Set(stretchesOf(rentals.map(atOf), rollup.leaf).map(({ to }) => to));
  const fresh = hours.length <= MAX_HOURS ? { hours, rentals: ends } : undefined;
  const compared = { leaves, stretches: joined(leaves), fresh };
  return computeChange(reader, rollup, stored, compared, until);
}

/** The number of charges that a change adds. */
export function chargesOf({ differences }: Change): number {
  const charges = differences.reduce((sum, difference) => sum + difference.charges, 0n);
  return Math.max(0, Number(charges));
}
