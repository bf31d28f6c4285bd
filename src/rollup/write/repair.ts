/** Repairs: differences from the ledger that no row explains which became covered since. */

import type { Knex } from "knex";
import { FIRST_INSTANT, fromDatetime, toBoundary, toDatetime } from "../../db/datetime.ts";
import { LENGTHS, stretchOf } from "../increments.ts";
import { justBefore, type Leaf } from "../leaves.ts";
import {
  COUNT_NAMES,
  formatSums,
  isZero,
  minus,
  NO_SUMS,
  plus,
  SUMS,
  type Sums,
  sumsFrom,
} from "../sums.ts";
import { type Change, writeChange } from "./change.ts";
import type { Difference } from "./comparison.ts";
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

/** The repairs of a change, leaf by leaf; of the provider as a whole if no owner has any. */
function repairsOf(change: Change): Repair[] {
  const { provider } = change.rollup;
  const unexplained = change.differences
    .map((difference) => ({ ...difference, ...unexplainedPart(difference) }))
    .filter((difference) => !isZero(difference));
  if (unexplained.length === 0) return repairsOfWhole(change);
  return Map.groupBy(unexplained, ({ leaf }) => leaf.to)
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

/** The repairs of rows of the provider as a whole, where those of owners are as they should be. */
function repairsOfWhole({ rollup, until, differences, totals, increments }: Change): Repair[] {
  const { provider, watermark } = rollup;
  const cause = "changed row";
  const atBoundaries = totals.map(({ at, ...sums }): Repair => {
    return { provider, from: justBefore(at).from, to: at, ...sums, cause };
  });
  if (until === watermark) {
    const others = increments.map(({ length, start, ...sums }): Repair => {
      const to = toBoundary(stretchOf(start, length)[1]);
      return { provider, from: toDatetime(start), to, ...sums, cause };
    });
    return [...atBoundaries, ...others];
  }
  // Those of a refresh have what became covered, which the differences of owners have, too.
  const days = increments.filter(({ length }) => length === LENGTHS.day);
  const others = minus(days.reduce<Sums>(plus, NO_SUMS), differences.reduce<Sums>(plus, NO_SUMS));
  const sums = sumsFrom((name) => (SUMS[name].table === "charges" ? others[name] : 0n));
  if (isZero(sums)) return atBoundaries;
  const starts = days.map(({ start }) => start);
  const from = toDatetime(Math.min(...starts, fromDatetime(until)));
  return [...atBoundaries, { provider, from, to: until, ...sums, cause }];
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

/** Whether the rows that became covered explain all differences of owners. */
export function isExplained({ differences }: Change): boolean {
  return differences.every((difference) => isZero(unexplainedPart(difference)));
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
