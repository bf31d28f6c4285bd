/**
 * Reads the sums of days. What a rollup covers of them is cached by its version: past days change with that alone.
 */
import { LAST_INSTANT, laterOf, toBoundary } from "../../db/datetime.ts";
import { type Question, question } from "../../rollup/read/ask.ts";
import {
  type Boundaries,
  boundariesOf,
  countUncovered,
  includingEarlier,
} from "../../rollup/read/boundaries.ts";
import { createSumsCache } from "../../rollup/read/cache.ts";
import type { Facts } from "../../rollup/read/facts.ts";
import { QUARTER, stretchAt } from "../../rollup/stretches.ts";
import type { Sums } from "../../rollup/sums.ts";
import { boundsOf, type Period } from "../period.ts";
import { type Day, isUtc, STRETCHES, type StretchKind, timesOf, timesWithin } from "./days.ts";
import { covered, type DailyRows, type Part, partOf, sumsByDay } from "./parts.ts";
import { TIMES, utcDaily, zonedDaily } from "./queries.ts";

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

/** Creates a reader with an empty cache. */
export function createDailyReader() {
  const cache = createSumsCache<readonly Part[]>((parts) => parts.length, MAX_CACHED_DAYS);
  /** Makes the question for the stretches of a kind in a period of a provider, given the facts. */
  return (
    provider: string,
    period: Period,
    { kind, zone }: { readonly kind: StretchKind; readonly zone: string },
    { now, rollup: current }: Facts,
  ): Question<Daily> => {
    const days = STRETCHES[kind](period, zone);
    // A rollup has no sums of days that begin within a quarter of an hour.
    const rollup = timesWithin(days, QUARTER.ms).length === 0 ? current : undefined;
    const bounds = boundsOf(period, now);
    const end = Math.min(period.end, now);
    const boundaries =
      rollup && boundariesOf(rollup.watermark, end, boundariesOfDays(days, period.start, end));
    const isStored = boundaries !== undefined && boundaries.first < boundaries.last;
    return question<DailyRows, readonly Part[], Daily>({
      rollup,
      statements: isUtc(days) ? utcDaily : zonedDaily,
      values: {
        ...{ provider, ...bounds, ...timeParameters(days), ...rollup, boundary: LAST_INSTANT },
        ...(boundaries && {
          ...boundaries,
          ...utcDaysOf(boundaries),
          tailFrom: laterOf(boundaries.last, bounds.start),
        }),
      },
      ...(isStored && {
        stored: {
          cache,
          place: `${kind} ${zone} ${boundaries.first} ${boundaries.last}`,
          sumsOf: (rows) => covered(rows, boundaries, rollup?.watermark ?? "", days),
        },
      }),
      answer: (rows, parts = []) => ({
        value: {
          ...{ period, days, now },
          sums: sumsByDay(
            [...parts, ...[...rows.head, ...rows.tail, ...rows.uncovered].map(partOf)],
            days,
          ),
        },
        uncoveredCharges: countUncovered(rows, boundaries, rollup?.watermark),
      }),
    });
  };
}

/** The days in UTC that hold what lies between two boundaries: the start of the first, and the end of the last one. */
const utcDaysOf = ({ first, last }: Boundaries) => ({
  from: stretchAt(first, "P1D").from,
  to: stretchAt(last, "P1D").to,
});

/** The first start of a day in a period, and the last one up to the instant after its end, all in epoch ms. */
function boundariesOfDays(days: readonly Day[], start: number, end: number): Boundaries {
  const starts = [...days.map((day) => day.start), days.at(-1)?.end ?? end];
  const boundary = (at = days[0]?.start ?? start) => includingEarlier(toBoundary(at));
  return {
    first: boundary(starts.find((at) => at >= start)),
    last: boundary(starts.findLast((at) => at <= end + 1)),
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
  const last = times.at(-1) ?? 0;
  return Object.fromEntries(TIMES.map((name, nth) => [name, String((times[nth] ?? last) / 1_000)]));
}
