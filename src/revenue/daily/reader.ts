/**
 * Reads the sums of days. What a rollup covers of them is cached by its version: past days change with that alone.
 */
import { FIRST_INSTANT, instantOf, LAST_INSTANT, laterOf, toBoundary } from "../../db/datetime.ts";
import { justBefore, leafAt, QUARTER } from "../../rollup/leaves.ts";
import { type Question, question, rawQuestion } from "../../rollup/read/ask.ts";
import { type Boundaries, boundariesOf, countUncovered } from "../../rollup/read/boundaries.ts";
import { createSumsCache } from "../../rollup/read/cache.ts";
import type { Facts } from "../../rollup/read/facts.ts";
import { countCharges, sumsOf } from "../../rollup/stored-sums.ts";
import { NO_SUMS, plus, type Sums } from "../../rollup/sums.ts";
import { boundsOf, includingEarlier, type Period } from "../period.ts";
import {
  type Day,
  grainOf,
  indexOf,
  isUtc,
  STRETCHES,
  type StretchKind,
  timesOf,
  timesWithin,
} from "./days.ts";
import { type Added, type ChargesRow, covered, type FullRows } from "./parts.ts";
import { cachedDaily, rawDaily, TIMES, utcDaily, zonedDaily } from "./queries.ts";

/** What the days of a period are made of. */
export interface Daily {
  readonly period: Period;
  readonly days: readonly Day[];
  /** The sums of each day. */
  readonly sums: readonly Sums[];
  readonly now: number;
}

/** The maximum number of days in the cache, each of about 300 bytes: 30 MB. */
const MAX_CACHED_DAYS = 100_000;

/** Creates the question for the days of a period, given the facts. */
type DailyFor = (
  provider: string,
  period: Period,
  stretches: { readonly kind: StretchKind; readonly zone: string },
  facts: Facts,
) => Question<Daily>;

/** Creates a reader with an empty cache. `observeCache` is called with each lookup in the cache. */
export function createDailyReader(observeCache?: (hit: boolean) => void): DailyFor {
  const cache = createSumsCache<readonly Added[]>(
    (added) => added.length,
    MAX_CACHED_DAYS,
    observeCache,
  );
  return (provider, period, { kind: stretch, zone }, { now, rollup }) => {
    const days = STRETCHES[stretch](period, zone);
    const bounds = boundsOf(period, now);
    const { shift, grain } = grainOf(days);
    const values = { provider, ...bounds, shift: String(shift), grain: String(grain) };
    const daily = (charges: readonly ChargesRow[], added: readonly Added[]): Daily => ({
      ...{ period, days, now },
      sums: sumsByDay(charges, added, days),
    });
    if (rollup === undefined || timesWithin(days, QUARTER.ms).length > 0) {
      return rawQuestion({
        statement: rawDaily,
        values,
        answer: ({ charges }) => ({
          value: daily(charges, []),
          // A rollup that has no sums of such days is not behind.
          uncoveredCharges: rollup === undefined ? countCharges(charges) : 0,
        }),
      });
    }
    const { watermark, slot } = rollup;
    const end = Math.min(period.end, now);
    const marks = boundariesOf(watermark, end, marksOfDays(days, period.start, end));
    const { first, last } = marks;
    const stored = {
      cache,
      place: `${stretch} ${zone} ${first} ${last}`,
      cached: cachedDaily,
      sumsOf: (rows: FullRows) => covered(rows, marks, watermark, days),
    };
    const hasStored = first < last;
    const full = isUtc(days) ? utcDaily : zonedDaily;
    const times = timeParameters(days);
    const edges = { ...marks, ...utcDaysOf(marks, watermark), mark: LAST_INSTANT };
    const tailFrom = laterOf(last, bounds.start);
    return question({
      rollup,
      statement: hasStored ? full : cachedDaily,
      values: { ...values, watermark, slot, ...times, ...edges, tailFrom },
      ...(hasStored && { stored }),
      answer: (rows, added = []) => ({
        value: daily([...rows.head, ...rows.tail, ...rows.uncovered], added),
        uncoveredCharges: countUncovered(rows, marks, watermark),
      }),
    });
  };
}

/** The days in UTC that hold what is covered between two marks: the start of the first, and the end of the last one. */
function utcDaysOf(
  { first, last }: Boundaries,
  watermark: string,
): Readonly<Record<"from" | "to", string>> {
  if (first >= last) return { from: FIRST_INSTANT, to: FIRST_INSTANT };
  // What comes right after the watermark may be a date that does not exist.
  const end = last > watermark ? watermark : justBefore(last).from;
  return { from: leafAt(first, "P1D").from, to: leafAt(end, "P1D").to };
}

/** The first start of a day in a period, and the last one up to the instant after its end, all in epoch ms. */
function marksOfDays(days: readonly Day[], start: number, end: number): Boundaries {
  const [first, last] = [days[0], days.at(-1)];
  const starts = [...days.map((day) => day.start), last?.end ?? end];
  const mark = (at: number | undefined) =>
    includingEarlier(toBoundary(at ?? first?.start ?? start));
  return {
    first: mark(starts.find((at) => at >= start)),
    last: mark(starts.findLast((at) => at <= end + 1)),
  };
}

/**
 * The times of day (UTC) at which days begin, in seconds, as parameters.
 *
 * @throws Error if they begin at more times than a statement has
 */
export function timeParameters(days: readonly Day[]): Readonly<Record<string, string>> {
  const times = timesOf(days);
  // The charges of a day that begins at yet another time would count with those of the day before or after it.
  if (times.length > TIMES.length) {
    throw new Error(`days begin at more than ${TIMES.length} times of day (UTC)`);
  }
  return Object.fromEntries(
    TIMES.map((name, nth) => [name, String((times[nth] ?? times[0] ?? 0) / 1_000)]),
  );
}

/** The sums of each of some consecutive days. */
function sumsByDay(
  rows: readonly ChargesRow[],
  stored: readonly Added[],
  days: readonly Day[],
): readonly Sums[] {
  const byDay = days.map(() => NO_SUMS);
  const add = (at: number, added: Sums) => {
    const day = indexOf(at, days);
    byDay[day] = plus(byDay[day] ?? NO_SUMS, added);
  };
  for (const row of rows) add(instantOf(row.at), sumsOf(row));
  for (const [at, added] of stored) add(at, added);
  return byDay;
}
