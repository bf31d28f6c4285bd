/** Repairs: differences from the ledger that no row explains which became covered since. */

import type { Knex } from "knex";
import { FIRST_INSTANT } from "../../db/datetime.ts";
import type { Leaf } from "../leaves.ts";
import {
  COUNT_NAMES,
  formatSums,
  isZero,
  NO_SUMS,
  plus,
  SUMS,
  type Sums,
  sumsFrom,
} from "../sums.ts";
import { type Change, writeChange } from "./change.ts";
import type { Difference } from "./comparison.ts";

/** What may have caused a difference. Rows of the rollup changed by hand look like any of them. */
export type Cause =
  | "late commit"
  | "deleted row"
  | "changed row"
  | "future watermark"
  | "damaged rollup";

/** What was repaired in a leaf: what the ledger had more than the rollup; negative if it had less. */
export interface Repair extends Leaf, Sums {
  readonly provider: string;
  readonly cause: Cause;
}

/**
 * Writes a change as `writeChange` does, and calls `repaired` with each repair: also if COMMIT fails,
 * which leaves open whether it was written, because only its reply may be lost.
 */
export async function writeRepairs(
  database: Knex,
  change: Change,
  repaired: (repair: Repair) => void,
  columns: Parameters<typeof writeChange>[2] = {},
): Promise<boolean> {
  let mayBeWritten = false;
  const committing = () => {
    mayBeWritten = true;
  };
  try {
    return await writeChange(database, change, columns, committing);
  } finally {
    if (mayBeWritten) repairsOf(change).forEach(repaired);
  }
}

/** The repairs of a change, leaf by leaf. */
function repairsOf({ rollup: { provider }, differences }: Change): Repair[] {
  const unexplained = differences
    .map((difference) => ({ ...difference, ...unexplainedPart(difference) }))
    .filter((difference) => !isZero(difference));
  // The sums of the provider as a whole differ wherever those of an owner do.
  const ofOwners = unexplained.filter(({ total }) => !total);
  const shown = ofOwners.length > 0 ? ofOwners : unexplained;
  return Map.groupBy(shown, ({ leaf }) => leaf.to)
    .values()
    .map((parts): Repair => {
      const [{ leaf }] = parts as [Difference];
      const counts = parts.flatMap((part) => COUNT_NAMES.map((name) => part[name]));
      const [more, fewer] = [counts.some((count) => count > 0), counts.some((count) => count < 0)];
      const cause = more && !fewer ? "late commit" : fewer && !more ? "deleted row" : "changed row";
      return { provider, ...leaf, ...parts.reduce(plus, NO_SUMS), cause };
    })
    .toArray();
}

/** A repair of a rollup whose watermark lay in the future. */
export function futureWatermark(provider: string, from: string, to: string): Repair {
  return { provider, from, to, ...NO_SUMS, cause: "future watermark" };
}

/** A repair of a rollup whose own rows contradict each other. */
export function damagedRollup(provider: string, watermark: string): Repair {
  const all = { from: FIRST_INSTANT, to: watermark };
  return { provider, ...all, ...NO_SUMS, cause: "damaged rollup" };
}

/** A rental that was written again became covered for the second time, and adds nothing. */
function unexplainedPart(difference: Difference): Sums {
  return sumsFrom((name) => {
    const [added, fresh] = [difference[name], difference.fresh[name]];
    if (SUMS[name].table === "charges" || added > fresh) return added - fresh;
    return added < 0n ? added : 0n;
  });
}

/** Formats a repair for the log. */
export function formatRepair(repair: Repair): string {
  const { provider, from, to, cause } = repair;
  if (cause === "future watermark") {
    return `provider ${provider}: the watermark ${from} lay in the future (cause: ${cause}); the rollup is built again`;
  }
  if (cause === "damaged rollup") {
    return `provider ${provider}: rows of the rollup were changed or lost (cause: ${cause}); it is built again`;
  }
  return `provider ${provider}, ${from} to ${to}: repaired by ${formatSums(repair)} (cause: ${cause})`;
}
