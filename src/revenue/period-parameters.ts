/** The parameters of the statements of a period (period-sums.ts), given the facts. */
import { earlierOf, laterOf } from "../db/datetime.ts";
import { boundariesOf, marksOf, storedMark } from "../rollup/read/boundaries.ts";
import type { CurrentRollup } from "../rollup/read/facts.ts";
import { stretchOf } from "./breakdown/totals.ts";
import { boundsOf, type Period } from "./period.ts";

/** A period at `now` (epoch ms), and as parameters of a provider. */
export function parametersOf(provider: string, period: Period, now: number) {
  const stretch = stretchOf(period, now);
  const [from, until] = [String(stretch.from), String(stretch.until)];
  return { stretch, values: { provider, ...boundsOf(period, now), from, until } };
}

/** The boundaries of a rollup in a period, and what lies between them and its ends as parameters. */
export function edgesOf(period: Period, now: number, { watermark, slot, leaf }: CurrentRollup) {
  const end = Math.min(period.end, now);
  const boundaries = boundariesOf(watermark, end, marksOf(leaf, period.start, end));
  const { first, last } = boundaries;
  const { start } = boundsOf(period, now);
  const values = {
    ...{ watermark, slot, first, last },
    mark: storedMark(first, watermark),
    other: storedMark(last, watermark),
    // Without a boundary in the period the last one is before its start.
    tailFrom: laterOf(last, start),
    headFrom: earlierOf(first, start),
    headTo: laterOf(first, start),
    headSign: first > start ? "-1" : "1",
  };
  return { boundaries, values };
}
