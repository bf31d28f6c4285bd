/**
 * What a rollup covers of days: its increments of days in UTC, or of a zone the parts that these are made of, which must
 * add up to them.
 */
import { instantOf } from "../../db/datetime.ts";
import {
  MINUTE,
  QUARTER_LENGTHS,
  QUARTER_SUMS,
  type STORED_QUARTERS,
  sixHoursOf,
} from "../../rollup/increments.ts";
import type { Boundaries } from "../../rollup/read/boundaries.ts";
import { compareSums } from "../../rollup/read/damage.ts";
import { type SumsRow, sumsOf } from "../../rollup/stored-sums.ts";
import { minus, NO_SUMS, plus, type Sums } from "../../rollup/sums.ts";
import { type Day, indexOf, isUtc, timesWithin } from "./days.ts";

/** Sums at an instant, as DATETIME text. */
export type ChargesRow = SumsRow & Readonly<Record<"at" | "charges", string>>;

/** A row that may have its quarters. */
type IncrementRow = ChargesRow & { readonly [Column in keyof typeof STORED_QUARTERS]?: string };

/** The rows of the statements of days. */
export interface DailyRows
  extends Readonly<Record<"head" | "tail" | "uncovered" | "hours", readonly ChargesRow[]>>,
    Readonly<Record<"days" | "cutHours", readonly IncrementRow[]>>,
    Readonly<Record<"total" | "allDays", readonly SumsRow[]>> {
  readonly confirmed: readonly { readonly version: string }[];
}

/** Sums of a stretch of time in one day, and an instant of it, in epoch ms. */
export interface Part {
  readonly at: number;
  readonly sums: Sums;
}
export const partOf = (row: ChargesRow): Part => ({ at: instantOf(row.at), sums: sumsOf(row) });

/** The sums of each of some consecutive days, of parts of them. */
export function sumsByDay(
  parts: readonly Part[],
  days: readonly Pick<Day, "start">[],
): readonly Sums[] {
  const byDay = days.map(() => NO_SUMS);
  for (const { at, sums } of parts) {
    const day = indexOf(at, days);
    byDay[day] = plus(byDay[day] ?? NO_SUMS, sums);
  }
  return byDay;
}

/**
 * What is covered of days between two boundaries, as a part for each day that has any.
 *
 * @throws DamagedRollup if all days differ from the provider as a whole, or a day in UTC from its parts
 */
export function covered(
  stored: DailyRows,
  { first, last }: Boundaries,
  watermark: string,
  days: readonly Day[],
): readonly Part[] {
  const [allDays, total] = [sumsOf(stored.allDays[0] ?? {}), sumsOf(stored.total[0] ?? {})];
  compareSums([{ at: "days", parts: allDays, total }]);
  const parts = isUtc(days) ? stored.days.map(partOf) : partsOf(days, stored);
  // Up to the watermark, everything counts.
  const [from, to] = [instantOf(first), last > watermark ? Infinity : instantOf(last)];
  const byDay = sumsByDay(
    parts.filter(({ at }) => at >= from && at < to),
    days,
  );
  return days
    .map(({ start }, nth) => ({ at: start, sums: byDay[nth] ?? NO_SUMS }))
    .filter(({ sums }) => sums !== NO_SUMS);
}

/** The quarters of rows that have charges, of which all columns are NULL otherwise; their length is in minutes. */
function quartersOf(rows: readonly IncrementRow[], length: number): Part[] {
  return rows.flatMap((row) =>
    QUARTER_SUMS.flatMap((columns, nth) => {
      const [gross, charges, refunds] = [
        row[columns.gross],
        row[columns.charges],
        row[columns.refunds],
      ];
      if (!gross || !charges || !refunds) return [];
      const sums = sumsOf({ gross, charges, refunds });
      return { at: instantOf(row.at) + nth * length * MINUTE, sums };
    }),
  );
}

/**
 * The parts of days in UTC, of which each lies in one day: six hours, hours of those in which days begin, and quarter
 * hours in place of an hour in which one does.
 *
 * @throws DamagedRollup if those of a day in UTC do not add up to it
 */
function partsOf(days: readonly Day[], stored: DailyRows): readonly Part[] {
  const cut = new Set(timesWithin(days, QUARTER_LENGTHS.day * MINUTE).map(sixHoursOf));
  const sixHours = quartersOf(stored.days, QUARTER_LENGTHS.day);
  const replaced = stored.cutHours.map(partOf);
  const parts = [
    ...sixHours.filter(({ at }) => !cut.has(sixHoursOf(at))),
    ...stored.hours.map(partOf),
    ...replaced.map(({ at, sums }) => ({ at, sums: minus(NO_SUMS, sums) })),
    ...quartersOf(stored.cutHours, QUARTER_LENGTHS.hour),
  ];
  // In their order, of which SQL promises none for a part of a UNION.
  const daysInUtc = stored.days
    .map((row) => ({ at: row.at, start: instantOf(row.at), total: sumsOf(row) }))
    .sort((one, other) => one.start - other.start);
  const sums = sumsByDay(parts, daysInUtc);
  compareSums(daysInUtc.map((day, nth) => ({ ...day, parts: sums[nth] ?? NO_SUMS })));
  return parts;
}
