/**
 * The charges of a period that the sums of a rollup do not hold. The formulas are in docs/rollups.md. In its
 * words, an answer is made of the sums *F* at two boundaries, `first` (s') and `last` (e', or the first
 * instant after the watermark), of the charges of the head and the tail, and of those between that are not
 * covered. `first` is `last` if no boundary lies in the period.
 */
import { fromDatetime, toDatetime } from "../db/datetime.ts";
import { after, BEFORE_ALL, END_OF_TIME, WATERMARK } from "../rollup/read/sql.ts";
import { PERIOD_END, PERIOD_START } from "./period.ts";

/** How a statement refers to the watermark and the boundaries, as SQL expressions. */
export interface Terms {
  readonly watermark: string;
  readonly first: string;
  readonly last: string;
}

/** SQL condition: the period has everything that is covered. */
const reaches = (watermark: string) => `${PERIOD_END} >= ${watermark}`;

/** The terms of a statement that reads sums, from the first boundary in the period and the last one. */
export function termsOf(first: string, last: string, watermark = WATERMARK): Terms {
  const lastOrWatermark = `CASE WHEN ${reaches(watermark)} THEN ${after(watermark)} ELSE ${last} END`;
  return {
    watermark,
    first: `LEAST(${first}, ${lastOrWatermark})`,
    last: lastOrWatermark,
  };
}

/**
 * The same of the rows of a statement, as DATETIME(3) text.
 *
 * @param end of the period, epoch ms; undefined for the statement's `now`
 * @param stored the boundaries in the period, "" for none
 */
export function boundariesOf(
  watermark: string,
  { end, now }: { readonly end: number | undefined; readonly now: number },
  stored: { readonly first: string; readonly last: string },
): { readonly first: string; readonly last: string } {
  const reachesWatermark = toDatetime(Math.min(end ?? now, now)) >= watermark;
  const lastStored = stored.last || BEFORE_ALL;
  const last = reachesWatermark ? toDatetime(fromDatetime(watermark) + 1) : lastStored;
  const first = stored.first === "" || stored.first > last ? last : stored.first;
  return { first, last };
}

/** Where the sums at `last` are looked for: up to there, or at the last boundary there is. */
export function upTo(last: string, watermark = WATERMARK): string {
  return `CASE WHEN ${reaches(watermark)} THEN ${END_OF_TIME} ELSE ${last} END`;
}

/** The queries of the charges. `sumCharges` makes one of an SQL condition. */
export function rawCharges<Query>(
  { watermark, first, last }: Terms,
  sumCharges: (condition: string) => Query,
) {
  return {
    head: sumCharges(`charged_at >= ${PERIOD_START} AND charged_at < ${first}`),
    tail: sumCharges(
      // As boundaries do: a 30th of February is after the last instant of the month, and before the next.
      `charged_at >= GREATEST(${last}, ${PERIOD_START}) AND charged_at < ${after(PERIOD_END)}`,
    ),
    uncovered: sumCharges(
      `recorded_at > ${watermark} AND charged_at >= ${first} AND charged_at < ${last}`,
    ),
  };
}

type Counted = readonly { readonly charges: string }[];

/** The number of those that the rollup does not cover. The head has at most a leaf of them, and is left out. */
export function countUncovered(
  { tail, uncovered }: { readonly tail: Counted; readonly uncovered: Counted },
  last: string,
  watermark: string,
): number {
  const rows = last > watermark ? [...uncovered, ...tail] : uncovered;
  return rows.reduce((sum, { charges }) => sum + Number(charges), 0);
}
