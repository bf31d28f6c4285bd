/** A difference between a rollup and the ledger that no row explains which became covered since. */
import { formatCents } from "../../db/cents.ts";
import type { Segment } from "./ledger/segment.ts";
import type { Totals, TotalsByKey } from "./totals-by-key.ts";

/** What may have caused a difference. Rows of the rollup changed by hand look like any of them. */
export type Cause =
  | "late commit"
  | "deleted row"
  | "changed row"
  | "rollup row"
  | "future watermark";

/** A difference: what the ledger has in a segment and the rollup lacks; negative if it has more. */
export interface Difference extends Segment, Totals {
  readonly cause: Cause;
}

const NONE: Totals = { gross: 0n, charges: 0, started: 0, ended: 0 };

/**
 * The difference of a segment; `undefined` if there is none.
 *
 * @param addition what has to be added to the rollup, by server and instance
 * @param fresh the rows that became covered: all of the charges, and at most these rentals, because
 *   a rental may have been covered before it was written again
 */
export function differenceOf(
  segment: Segment,
  addition: TotalsByKey,
  fresh: TotalsByKey,
): Difference | undefined {
  let sum = NONE;
  let [more, fewer, changed] = [false, false, false];
  for (const key of new Set([...addition.keys(), ...fresh.keys()])) {
    const [all, expected] = [addition.get(key) ?? NONE, fresh.get(key) ?? NONE];
    const charges = all.charges - expected.charges;
    const gross = all.gross - expected.gross;
    const started = unexplained(all.started, expected.started);
    const ended = unexplained(all.ended, expected.ended);
    const counts = [charges, started, ended];
    more ||= counts.some((count) => count > 0);
    fewer ||= counts.some((count) => count < 0);
    changed ||= gross !== 0n;
    sum = {
      gross: sum.gross + gross,
      charges: sum.charges + charges,
      started: sum.started + started,
      ended: sum.ended + ended,
    };
  }
  if (!more && !fewer && !changed) return undefined;
  const cause = more && !fewer ? "late commit" : fewer && !more ? "deleted row" : "changed row";
  return { ...segment, ...sum, cause };
}

/** A difference in the rollup's own rows: of a checkpoint's gross, or of a watermark. */
export function ownDifference(segment: Segment, cause: Cause, gross = 0n): Difference {
  return { ...segment, ...NONE, gross, cause };
}

function unexplained(added: number, atMost: number): number {
  return added > atMost ? added - atMost : Math.min(added, 0);
}

/** Formats a difference that was repaired, for the log. */
export function formatRepair(difference: Difference): string {
  const { provider, from, to, cause, gross, charges, started, ended } = difference;
  if (cause === "future watermark") {
    return `provider ${provider}: the watermark ${from} lay in the future (cause: ${cause}); the rollup is built again`;
  }
  return `provider ${provider}, ${from} to ${to}: repaired by ${formatCents(gross)} of gross, ${charges} charges, ${started} starts and ${ended} ends of rentals (cause: ${cause})`;
}
