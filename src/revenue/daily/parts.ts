/**
 * What a rollup covers of days: its increments of days in UTC, or of a zone the parts that these are made of, which must
 * add up to them.
 */
import { fromDatetime, instantOf, toDatetime } from "../../db/datetime.ts";
import {
  LENGTHS,
  MINUTE,
  QUARTER_LENGTHS,
  QUARTER_SUMS,
  type STORED_QUARTERS,
  sixHoursOf,
  stretchOf,
} from "../../rollup/increments.ts";
import type { Boundaries } from "../../rollup/read/boundaries.ts";
import { compareSums } from "../../rollup/read/damage.ts";
import { type SumsRow, sumsOf } from "../../rollup/stored-sums.ts";
import { minus, NO_SUMS, plus, type Sums } from "../../rollup/sums.ts";
import { type Day, indexOf, isUtc, timesWithin } from "./days.ts";

/** Sums at an instant, as DATETIME text. */
export type ChargesRow = SumsRow & Readonly<Record<"at" | "charges", string>>;

/** What is covered of a day, by its start (epoch ms). */
export type Added = readonly [at: number, sums: Sums];

/** A row that may have its quarters. */
type IncrementRow = ChargesRow & { readonly [Column in keyof typeof STORED_QUARTERS]?: string };

/** The rows of the statements of days. */
export interface DailyRows
  extends Readonly<Record<"head" | "tail" | "uncovered" | "hours", readonly ChargesRow[]>>,
    Readonly<Record<"days" | "cutHours", readonly IncrementRow[]>>,
    Readonly<Record<"total" | "allDays", readonly SumsRow[]>> {
  readonly confirmed: readonly { readonly version: string }[];
}

/**
 * What is covered of days between two marks.
 *
 * @throws DamagedRollup if all days differ from the provider as a whole, or a day in UTC from its parts
 */
export function covered(
  stored: DailyRows,
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

/** The quarters of rows that have charges; their length is in minutes. */
function quartersOf(rows: readonly IncrementRow[], length: number): Part[] {
  const quarters: Part[] = [];
  for (const row of rows) {
    const start = fromDatetime(row.at);
    for (const [nth, columns] of QUARTER_SUMS.entries()) {
      const [gross, charges, refunds] = [
        row[columns.gross],
        row[columns.charges],
        row[columns.refunds],
      ];
      if (!gross || !charges || !refunds) continue;
      const sums = sumsOf({ gross, charges, refunds });
      quarters.push({ at: start + nth * length * MINUTE, sums });
    }
  }
  return quarters;
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
  const byDay = Map.groupBy(parts, ({ at }) => stretchOf(at, LENGTHS.day)[0]);
  const compared = stored.days.map(partOf).map(({ at, sums: total }) => {
    const ofDay = byDay.get(at) ?? [];
    return {
      at: toDatetime(at),
      parts: ofDay.map(({ sums }) => sums).reduce(plus, NO_SUMS),
      total,
    };
  });
  compareSums(compared);
  return parts;
}
