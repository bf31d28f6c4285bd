/** Repairs: what differed in a rollup, and was put right. */

import { formatCents } from "../../db/cents.ts";
import { sumsOf } from "../stored-sums.ts";
import { formatSums, isZero, NO_SUMS, plus, type Sums } from "../sums.ts";
import type { Change } from "./change.ts";
import type { Differences } from "./comparison.ts";
import { leafOf } from "./increments.ts";

/** What differed in a rollup, and was put right. */
export interface Repair {
  readonly provider: string;
  /** Where, and what the ledger had more; or why the rollup is built anew. In words, which follow the provider's. */
  readonly what: string;
  /** The money that differed, in decimal text: that of each place, also where one has more and another less. */
  readonly gross: string;
}

/** What the ledger has more than a rollup: each owner in a leaf, and the provider as a whole in a quarter of an hour. */
export const placesOf = ({ owners, quarters }: Differences) => ({
  owners: owners.map(({ leaf, ...sums }) => {
    return { ...leaf, of: `server ${sums.server}, instance ${sums.instance}`, sums };
  }),
  wholes: quarters.map((each) => ({ ...leafOf(each), of: "as a whole", sums: sumsOf(each) })),
});

/** What differs at the watermark of a rollup, as a repair; undefined if nothing does. */
export function repairOf(change: Change): Repair | undefined {
  const { owners, wholes } = placesOf(change);
  const places = owners.length > 0 ? owners : wholes;
  if (places.length === 0) return undefined;
  const sums = places.reduce<Sums>((sum, place) => plus(sum, place.sums), NO_SUMS);
  const ends = places.flatMap(({ from, to }) => [from, to]).sort();
  const more = isZero(sums) ? "nothing in all, and others in places" : formatSums(sums);
  const gross = places.reduce(
    (sum, { sums: { gross } }) => sum + (gross < 0n ? -gross : gross),
    0n,
  );
  return {
    provider: change.rollup.provider,
    what: `${ends[0]} to ${ends.at(-1)}: repaired by ${more}`,
    gross: formatCents(gross),
  };
}

/** A rollup is built anew: what it has cannot be true. Answers that saw it were read from the ledger. */
export const rebuildOf = (provider: string, why: string): Repair => ({
  provider,
  what: `${why}: the rollup is built anew`,
  gross: formatCents(0n),
});
