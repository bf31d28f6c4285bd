/**
 * What a rollup covers of days: its increments of days in UTC, or of a zone the parts that these are made of, which must
 * add up to them.
 */
import { fromDatetime, instantOf, toDatetime } from "../../db/datetime.ts";
import {
  MINUTE,
  QUARTER_LENGTHS,
  QUARTER_SUMS,
  type STORED_QUARTERS,
  sixHoursOf,
  stretchOf,
} from "../../rollup/increments.ts";
import type { Boundaries } from "../../rollup/read/boundaries.ts";
import { compareSums, DamagedRollup } from "../../rollup/read/damage.ts";
import { type SumsRow, sumsOf } from "../../rollup/stored-sums.ts";
import { isZero, minus, NO_SUMS, plus, type Sums } from "../../rollup/sums.ts";
import { type Day, indexOf, isUtc, timesWithin } from "./days.ts";
import type { zonedDaily } from "./queries.ts";

/** Sums at an instant, as DATETIME text. */
export type ChargesRow = SumsRow & Readonly<Record<"at" | "charges", string>>;

/** What is covered of a day, by its start (epoch ms). */
export type Added = readonly [at: number, sums: Sums];

/** A row that may have its quarters. */
type IncrementRow = ChargesRow & { readonly [Column in keyof typeof STORED_QUARTERS]?: string };

export type FullRows = Awaited<ReturnType<typeof zonedDaily.run>>["rows"];

type Stored = Pick<FullRows, "total" | "allDays" | "days" | "hours" | "cutHours">;

/**
 * What is covered of days between two marks.
 *
 * @throws DamagedRollup if all days differ from the provider as a whole, a day in UTC from its six hours, these from
 *   their hours, or an hour from its quarter hours
 */
export function covered(
  stored: Stored,
  { first, last }: Boundaries,
  watermark: string,
  days: readonly Day[],
): readonly Added[] {
  const [allDays, total] = [sumsOf(stored.allDays[0] ?? {}), sumsOf(stored.total[0] ?? {})];
  compareSums([{ at: "days", parts: allDays, total }]);
  const parts = isUtc(days) ? stored.days.map(partOf) : partsOf(days, stored);
  // Up to the watermark, everything counts.
  const [from, to] = [instantOf(first), last > watermark ? Infinity : instantOf(last)];
  const byDay = new Map<number, Sums>();
  for (const { at, sums } of parts) {
    if (at < from || at >= to) continue;
    const { start } = days[indexOf(at, days)] as Day;
    byDay.set(start, plus(byDay.get(start) ?? NO_SUMS, sums));
  }
  return [...byDay];
}

/** Sums of a stretch of time in one day, and its start in epoch ms. */
interface Part {
  readonly at: number;
  readonly sums: Sums;
}
const partOf = (row: ChargesRow): Part => ({ at: fromDatetime(row.at), sums: sumsOf(row) });

/** The quarters of rows that have charges, which must add up to their rows; their length is in minutes. */
function quartersOf(rows: readonly IncrementRow[], length: number): Part[] {
  const quarters: Part[] = [];
  for (const row of rows) {
    const start = fromDatetime(row.at);
    let parts = NO_SUMS;
    for (const [nth, columns] of QUARTER_SUMS.entries()) {
      const [gross, charges, refunds] = [
        row[columns.gross],
        row[columns.charges],
        row[columns.refunds],
      ];
      if (!gross || !charges || !refunds) continue;
      const sums = sumsOf({ gross, charges, refunds });
      parts = plus(parts, sums);
      quarters.push({ at: start + nth * length * MINUTE, sums });
    }
    compareSums([{ at: row.at, parts, total: sumsOf(row) }]);
  }
  return quarters;
}

/**
 * The parts of days in UTC, of which each lies in one day: six hours, hours of those in which days begin, and quarter
 * hours in place of an hour in which one does.
 */
function partsOf(days: readonly Day[], stored: Stored): readonly Part[] {
  const sixHours = quartersOf(stored.days, QUARTER_LENGTHS.day);
  const quarters = quartersOf(stored.cutHours, QUARTER_LENGTHS.hour);
  const hours = stored.hours.map(partOf);
  const cut = new Set(cutParts(days));
  const [inside, others] = [true, false].map((isCut) =>
    sixHours.filter(({ at }) => cut.has(sixHoursOf(at)) === isCut),
  ) as [Part[], Part[]];
  compareHours(hours, inside);
  const replaced = stored.cutHours.map((row) => {
    const { at, sums } = partOf(row);
    return { at, sums: minus(NO_SUMS, sums) };
  });
  return [...others, ...hours, ...replaced, ...quarters];
}

/** @throws DamagedRollup if hours differ from the six hours that they lie in */
function compareHours(hours: readonly Part[], sixHours: readonly Part[]): void {
  const missing = new Map(sixHours.map(({ at, sums }) => [at, sums]));
  const startOf = (at: number) => stretchOf(at, QUARTER_LENGTHS.day)[0];
  const byStart = Map.groupBy(hours, ({ at }) => startOf(at));
  for (const start of [...missing.keys(), ...byStart.keys()]) {
    const parts = (byStart.get(start) ?? []).reduce((sum, { sums }) => plus(sum, sums), NO_SUMS);
    const total = missing.get(start) ?? NO_SUMS;
    if (!isZero(minus(parts, total)))
      throw new DamagedRollup({ at: toDatetime(start), parts, total });
  }
}

/** The six hours of days in UTC, by their number, within which a day begins. */
function cutParts(days: readonly Day[]): readonly number[] {
  return [...new Set(timesWithin(days, QUARTER_LENGTHS.day * MINUTE).map(sixHoursOf))];
}
