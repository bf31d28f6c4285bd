/** Refreshing a rollup: moving its watermark forward, and adding what became covered. */
import type { Knex } from "knex";
import { sumsOf } from "../stored-sums.ts";
import { joined, stretchesOf } from "../stretches.ts";
import { CHARGE_NAMES, NO_SUMS, plus, RENTAL_NAMES, type SumName, type Sums } from "../sums.ts";
import { readBoundaries } from "./boundaries.ts";
import { type Change, computeChange, MAX_CHANGED_LEAVES, writeChange } from "./change.ts";
import type { Compared } from "./comparison.ts";
import { findDamage } from "./damage.ts";
import { type Fresh, readFresh } from "./fresh.ts";
import { type Repair, rebuildOf, repairOf } from "./repair.ts";
import { inSnapshot, type Rollup, readRollups } from "./state.ts";

/** Up to so many stretches of hours with charges that became covered are compared; otherwise all of their leaves. */
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
  if (typeof found === "string") {
    const repair = found === "damaged" ? rebuildOf(provider, DAMAGED) : undefined;
    return { charges: 0, rebuild: found, repair };
  }
  const { change, repair } = found;
  if (!(await writeChange(database, change))) return { charges: 0 };
  return { charges: chargesOf(change), repair };
}

/** Why a rollup whose rows contradict each other is built anew. */
export const DAMAGED = "rows of the rollup were changed or lost";

const atOf = ({ at }: Fresh) => at;

/** The change that moves a rollup's watermark to `until`, and what of it is a repair. */
async function changeUpTo(reader: Knex.Transaction, rollup: Rollup, until: string) {
  if (await findDamage(reader, rollup)) return "damaged" as const;
  const fresh = await readFresh(reader, rollup, until);
  const leavesOf = (rows: readonly Fresh[]) => stretchesOf(rows.map(atOf), rollup.leaf);
  const leaves = leavesOf(fresh);
  if (leaves.length > MAX_CHANGED_LEAVES) return "too large" as const;
  const first = leaves.map(({ from }) => from).sort()[0] ?? until;
  const stored = await readBoundaries(reader, rollup, first);
  const compare = (compared: Compared, at: string) =>
    computeChange(reader, rollup, stored, compared, at);

  const { charges = [], rentals = [] } = Object.groupBy(fresh, ({ table }) => table);
  const [added, hours] = [leavesOf(charges), joined(stretchesOf(charges.map(atOf), "PT1H"))];
  const stretches = hours.length <= MAX_HOURS ? hours : joined(added);
  const ofFresh = { leaves: leavesOf(rentals), names: RENTAL_NAMES, added, stretches };
  const change = await compare(ofFresh, until);
  if (change === "too large") return change;
  const names = unexplained(change, rentals);
  if (names.length === 0) return { change, repair: undefined };

  const whole = { leaves, stretches: joined(leaves) };
  const late = await compare({ ...whole, names }, rollup.watermark);
  const all = await compare(whole, until);
  if (late === "too large" || all === "too large") return "too large" as const;
  return { change: all, repair: repairOf(late) };
}

/**
 * The sums of charges if the owners have others than the quarter hours lack, and those of rentals if they have more than
 * became covered. A charge that was replaced is in no hour again, and a rental that was written again adds nothing.
 */
function unexplained({ owners, quarters }: Change, rentals: readonly Fresh[]): SumName[] {
  const ofOwners = owners.reduce<Sums>(plus, NO_SUMS);
  const ofHours = quarters.map(sumsOf).reduce(plus, NO_SUMS);
  const ends = rentals.reduce((sum, { count }) => sum + BigInt(count), 0n);
  const hasOthers = CHARGE_NAMES.some((name) => ofOwners[name] !== ofHours[name]);
  const hasMore =
    owners.some(({ started, ended }) => started < 0n || ended < 0n) ||
    ofOwners.started + ofOwners.ended > ends;
  return [...(hasOthers ? CHARGE_NAMES : []), ...(hasMore ? RENTAL_NAMES : [])];
}

/** The number of charges that a change adds. */
export function chargesOf({ owners }: Change): number {
  const charges = owners.reduce((sum, difference) => sum + difference.charges, 0n);
  return Math.max(0, Number(charges));
}
