/** Repairs: differences from the ledger that no row explains which became covered since. */

import type { Knex } from "knex";
import { FIRST_INSTANT } from "../../db/datetime.ts";
import type { Leaf } from "../leaves.ts";
import { sumsOf } from "../stored-sums.ts";
import { COUNT_NAMES, formatSums, isZero, NO_SUMS, plus, type Sums } from "../sums.ts";
import { type Change, writeChange } from "./change.ts";
import type { Difference } from "./comparison.ts";
import { leafOf, type QuarterDifference } from "./increments.ts";
import type { RowColumns } from "./state.ts";

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
  columns: RowColumns = {},
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

/** The repairs of a change, leaf by leaf; if owners have none, those that a check has found of quarter hours. */
function repairsOf({ rollup, until, differences, quarters }: Change): Repair[] {
  const { provider, watermark } = rollup;
  const unexplained = differences.filter((difference) => !isZero(difference.unexplained));
  if (unexplained.length === 0) {
    // Those of a refresh have what became covered.
    return until === watermark ? quarters.map((quarter) => repairOfQuarter(provider, quarter)) : [];
  }
  return [...Map.groupBy(unexplained, ({ leaf }) => leaf.to).values()].map((parts): Repair => {
    const [{ leaf }] = parts as [Difference];
    const sums = parts.map((part) => part.unexplained);
    const counts = sums.flatMap((part) => COUNT_NAMES.map((name) => part[name]));
    const [more, fewer] = [counts.some((count) => count > 0), counts.some((count) => count < 0)];
    const cause = more && !fewer ? "late commit" : fewer && !more ? "deleted row" : "changed row";
    return { provider, ...leaf, ...sums.reduce(plus, NO_SUMS), cause };
  });
}

function repairOfQuarter(provider: string, quarter: QuarterDifference): Repair {
  return { provider, ...leafOf(quarter), ...sumsOf(quarter), cause: "changed row" };
}

/** A repair of a rollup whose watermark lay in the future. */
export function futureWatermark(provider: string, from: string, to: string): Repair {
  return { provider, from, to, ...NO_SUMS, cause: "future watermark" };
}

/**
 * A repair of a rollup whose own rows contradict each other.
 *
 * @param sums what its owners together had more than the provider as a whole
 */
export function damagedRollup(provider: string, watermark: string, sums: Sums): Repair {
  const all = { from: FIRST_INSTANT, to: watermark };
  return { provider, ...all, ...sums, cause: "damaged rollup" };
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
