/**
 * Reads the sums of days. What a rollup covers of them is cached by its version: past days change with that alone.
 */
import {
  DAY,
  FIRST_INSTANT,
  fromDatetime,
  instantOf,
  LAST_INSTANT,
  laterOf,
  toBoundary,
  toDatetime,
} from "../../db/datetime.ts";
import { LENGTHS, MINUTE, sixHoursOf, stretchOf } from "../../rollup/increments.ts";
import { justBefore, leafAt, QUARTER } from "../../rollup/leaves.ts";
import { type Question, question, rawQuestion } from "../../rollup/read/ask.ts";
import { type Boundaries, boundariesOf } from "../../rollup/read/boundaries.ts";
import { createSumsCache } from "../../rollup/read/cache.ts";
import { type ComparedSums, compareSums } from "../../rollup/read/damage.ts";
import type { Facts } from "../../rollup/read/facts.ts";
import { countCharges, type SumsRow, sumsOf } from "../../rollup/stored-sums.ts";
import { NO_SUMS, plus, type Sums } from "../../rollup/sums.ts";
import { boundsOf, includingEarlier, type Period } from "../period.ts";
import { type Day, daysOf, indexOf, timesOf } from "./days.ts";
import { cachedDaily, type Days, fullDaily, PARTS, RAW, TIMES } from "./queries.ts";

/** What the days of a period are made of. */
export interface Daily {
  readonly period: Period;
  readonly days: readonly Day[];
  /** The sums of each day. */
  readonly sums: readonly Sums[];
  readonly now: number;
}

/** What is covered of a day, by its start (epoch ms). */
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
    const kind = kindOf(days);
    if (rollup === undefined || !isEach(days, QUARTER.ms)) {
      return rawQuestion(RAW[kind], values, ({ charges }) => {
        const sums = sumsByDay(charges, [], days);
        // A rollup that has no sums of such days is not behind.
        const uncoveredCharges = rollup === undefined ? countCharges(charges) : 0;
        return { value: { period, days, sums, now }, uncoveredCharges };
      });
    }

    const { watermark, slot } = rollup;
    const end = Math.min(period.end, now);
    const marks = boundariesOf(watermark, end, marksOfDays(days, period.start, end));
    const { first, last } = marks;
    const place = `${zone} ${first} ${last}`;
    const known = first < last ? cache.get(provider, rollup, place) : [];
    if (first < last) observeCache(known !== undefined);
    const statement = known === undefined ? fullDaily[kind] : cachedDaily[kind];
    const tailFrom = laterOf(last, bounds.start);
    const edges = { ...marks, ...utcDaysOf(marks, watermark), mark: LAST_INSTANT, tailFrom };
    const stored = { watermark, slot, ...partParameters(days), ...edges };
    return question(rollup, statement, { ...values, ...stored }, (rows) => {
      const { head, tail, uncovered } = rows;
      const added = known ?? covered(rows, marks, days);
      if (known === undefined) cache.put(provider, rollup, place, added);
      const sums = sumsByDay([...head, ...tail, ...uncovered], added, days);
      const ofTail = last > watermark ? countCharges(tail) : 0;
      const uncoveredCharges = countCharges(uncovered) + ofTail;
      return { value: { period, days, sums, now }, uncoveredCharges };
    });
  };
}

type ChargesRow = SumsRow & Readonly<Record<"at" | "charges", string>>;

type FullRows = Awaited<ReturnType<typeof fullDaily.zoned.run>>["rows"];

type Stored = Pick<FullRows, "total" | "allDays" | "days" | "sixHours" | "quarters">;

/**
 * What is covered of days between two marks.
 *
 * @throws DamagedRollup if all days differ from the provider as a whole, a day in UTC from its six hours, or these from
 *   their quarter hours
 */
function covered(
  { total, allDays, days: inUtc, sixHours, quarters }: Stored,
  { first, last }: Boundaries,
  days: readonly Day[],
): readonly Added[] {
  compareSums([{ at: "days", parts: sumsOf(allDays[0] ?? {}), total: sumsOf(total[0] ?? {}) }]);
  const parts = isUtc(days)
    ? inUtc.map(partOf)
    : partsOf(days, inUtc.map(partOf), sixHours.map(partOf), quarters.map(partOf));
  const byDay = new Map<number, Sums>();
  for (const { text, at, sums } of parts) {
    if (text < first || text >= last) continue;
    const start = days[indexOf(at, days)]?.start ?? 0;
    byDay.set(start, plus(byDay.get(start) ?? NO_SUMS, sums));
  }
  return [...byDay];
}

/** Sums of a stretch of time in one day, and its start, as text and in epoch ms. */
interface Part {
  readonly text: string;
  readonly at: number;
  readonly sums: Sums;
}
const partOf = (row: ChargesRow): Part => ({
  text: row.at,
  at: fromDatetime(row.at),
  sums: sumsOf(row),
});

/** The parts of days in UTC, of which each lies in one day: six hours, and quarter hours of those in which days begin. */
function partsOf(
  days: readonly Day[],
  inUtc: readonly Part[],
  sixHours: readonly Part[],
  quarters: readonly Part[],
): readonly Part[] {
  const cut = new Set(cutParts(days));
  const [inside, others] = [true, false].map((isCut) =>
    sixHours.filter(({ at }) => cut.has(sixHoursOf(at)) === isCut),
  ) as [Part[], Part[]];
  compareSums([
    ...comparedBy(LENGTHS.sixHours, quarters, inside),
    ...comparedBy(LENGTHS.day, sixHours, inUtc),
  ]);
  return [...others, ...quarters];
}

/** The sums of parts and of wholes, by the stretch of a length that they lie in. */
function* comparedBy(
  length: number,
  parts: readonly Part[],
  wholes: readonly Part[],
): Generator<ComparedSums> {
  const byStart = new Map<number, [parts: Sums, wholes: Sums]>();
  for (const [which, list] of [parts, wholes].entries()) {
    for (const { at, sums } of list) {
      const [start] = stretchOf(at, length);
      const both = byStart.getOrInsertComputed(start, () => [NO_SUMS, NO_SUMS]);
      both[which as 0 | 1] = plus(both[which as 0 | 1], sums);
    }
  }
  for (const [start, [ofParts, total]] of byStart) {
    yield { at: toDatetime(start), parts: ofParts, total };
  }
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

const isEach = (days: readonly Day[], ms: number) =>
  days.every(({ start, end }) => start % ms === 0 && end % ms === 0);
const isUtc = (days: readonly Day[]) => isEach(days, DAY);

/** Which statements suit days. */
function kindOf(days: readonly Day[]): Days {
  if (isUtc(days)) return "utc";
  return timesOf(days).length === 1 ? "fixed" : "zoned";
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

/** The six hours of days in UTC, by their number, within which a day begins. */
function cutParts(days: readonly Day[]): readonly number[] {
  const within = timesOf(days).filter((time) => time % (LENGTHS.sixHours * MINUTE) !== 0);
  return [...new Set(within.map(sixHoursOf))];
}

/** The same as parameters. */
function partParameters(days: readonly Day[]): Readonly<Record<string, string>> {
  const parts = cutParts(days);
  return Object.fromEntries(
    PARTS.map((name, nth) => [name, String(parts[nth] ?? parts[0] ?? NO_PART)]),
  );
}
/** A part that there is not. */
const NO_PART = 4;

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
