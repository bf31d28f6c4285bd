/**
 * Reads the sums of days. What a rollup covers of them is cached by its version: past days change with that alone.
 */
import { DAY, fromDatetime, instantOf, laterOf, toBoundary } from "../../db/datetime.ts";
import { QUARTER } from "../../rollup/leaves.ts";
import { type Question, question, rawQuestion } from "../../rollup/read/ask.ts";
import { type Boundaries, boundariesOf } from "../../rollup/read/boundaries.ts";
import { createSumsCache } from "../../rollup/read/cache.ts";
import type { CurrentRollup, Facts } from "../../rollup/read/facts.ts";
import { countCharges, increments, type SumsRow, sumsOf } from "../../rollup/stored-sums.ts";
import { NO_SUMS, plus, type Sums } from "../../rollup/sums.ts";
import { boundsOf, includingEarlier, type Period } from "../period.ts";
import { type Day, daysOf, indexOf, timesOf } from "./days.ts";
import { dailyStatement, RAW, TIMES } from "./queries.ts";

/** What the days of a period are made of. */
export interface Daily {
  readonly period: Period;
  readonly days: readonly Day[];
  /** The sums of each day. */
  readonly sums: readonly Sums[];
  readonly now: number;
}

/** What is added by an instant (epoch ms), which lies in a day or is the end of one. */
type Added = readonly [at: number, sums: Sums];

/** The maximum number of days in the cache, each of about 300 bytes: 30 MB. */
const MAX_CACHED_DAYS = 100_000;

/** Creates the question for the days of a period, given the facts. */
type DailyFor = (provider: string, period: Period, zone: string, facts: Facts) => Question<Daily>;

/** Creates a reader with an empty cache. `observeCache` is called with each lookup in the cache. */
export function createDailyReader(observeCache: (hit: boolean) => void = () => {}): DailyFor {
  const cache = createSumsCache<readonly Added[]>((added) => added.length, MAX_CACHED_DAYS);

  return (provider, period, zone, facts) => {
    const { now, rollup } = facts;
    const days = daysOf(period, zone);
    const bounds = boundsOf(period, now);
    const values = { provider, ...bounds, ...timeParameters(days) };
    const kind = isUtc(days) ? "utc" : "zoned";
    if (rollup === undefined || !hasEndsOf(rollup, days)) {
      return rawQuestion(RAW[kind], values, ({ charges }) => {
        const sums = sumsByDay(charges, [], days);
        // A rollup that has no ends of such days is not behind.
        const uncoveredCharges = rollup === undefined ? countCharges(charges) : 0;
        return { value: { period, days, sums, now }, uncoveredCharges };
      });
    }

    const { watermark, slot } = rollup;
    const end = Math.min(period.end, now);
    const { first, last } = boundariesOf(watermark, end, marksOfDays(days, period.start, end));
    const place = `${zone} ${first} ${last}`;
    // Up to the last boundary, or to the end of the watermark's day.
    const [lastStart, lastEnd] =
      last > watermark ? [fromDatetime(watermark), Infinity] : [Infinity, end + 1];
    const whole = days.filter(
      (day) => day.start >= period.start && day.start <= lastStart && day.end <= lastEnd,
    );
    const known = whole.length === 0 ? [] : cache.get(provider, rollup, place);
    if (whole.length > 0) observeCache(known !== undefined);
    const tailFrom = laterOf(last, bounds.start);
    const { statement, ends } = dailyStatement(kind, known === undefined ? whole : []);
    const all = { ...values, watermark, slot, first, last, tailFrom, ...ends };
    return question(rollup, statement, all, ({ head, tail, uncovered, before, sums: stored }) => {
      const added = known ?? covered(before[0], stored);
      if (known === undefined) cache.put(provider, rollup, place, added);
      const sums = sumsByDay([...head, ...tail, ...uncovered], added, days);
      const ofTail = last > watermark ? countCharges(tail) : 0;
      const uncoveredCharges = countCharges(uncovered) + ofTail;
      return { value: { period, days, sums, now }, uncoveredCharges };
    });
  };
}

type ChargesRow = SumsRow & Readonly<Record<"at" | "charges", string>>;

/** What is covered of days, by their last instants: a boundary is the end of a day. */
function covered(before: SumsRow | undefined, sums: readonly ChargesRow[]): readonly Added[] {
  return [...increments(before, sums).map(([at, added]) => [fromDatetime(at) - 1, added] as const)];
}

const isEach = (days: readonly Day[], ms: number) =>
  days.every(({ start, end }) => start % ms === 0 && end % ms === 0);
const isUtc = (days: readonly Day[]) => isEach(days, DAY);

/** Whether a rollup has the boundaries of days. No rollup has any at other times, which local mean time has. */
function hasEndsOf({ totalLeaf }: CurrentRollup, days: readonly Day[]): boolean {
  return isUtc(days) || (totalLeaf === QUARTER.leaf && isEach(days, QUARTER.ms));
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
  ends: readonly Added[],
  days: readonly Day[],
): readonly Sums[] {
  const byDay = days.map(() => NO_SUMS);
  const add = (at: number, added: Sums) => {
    const day = indexOf(at, days);
    byDay[day] = plus(byDay[day] ?? NO_SUMS, added);
  };
  for (const row of rows) add(instantOf(row.at), sumsOf(row));
  for (const [at, added] of ends) add(at, added);
  return byDay;
}
