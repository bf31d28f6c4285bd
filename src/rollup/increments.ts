/**
 * Increments: what the provider as a whole has in a stretch of time, as rows that add up: hours make a day in UTC, and
 * days a month. The row of an hour also has its four quarter hours, and that of a day its four six hours. So each tells
 * whether one of the others was changed or lost, and a day of any zone needs the hours of few six hours.
 */
import { startOf } from "./stretches.ts";
import type { CHARGE_SUMS, SumName } from "./sums.ts";

/** The lengths of stretches that have a row, in minutes. That of a month stands for any. */
export const LENGTHS = { hour: 60, day: 1_440, month: 43_200 } as const;

/** The lengths of their quarters, which have columns of their rows. */
export const QUARTER_LENGTHS = { hour: LENGTHS.hour / 4, day: LENGTHS.day / 4 } as const;

/** A minute in ms. */
export const MINUTE = 60_000;

/** The four quarters of a row, from 0 on. */
export const QUARTERS = [0, 1, 2, 3] as const;

/** The column that has a sum of a quarter; NULL where it has no charge. */
export function quarterColumn<Name extends SumName>(name: Name, nth: 0 | 1 | 2 | 3) {
  return `${name}_${([1, 2, 3, 4] as const)[nth]}` as const;
}

/** The columns of each quarter, by the names of their sums. */
export const QUARTER_SUMS = QUARTERS.map(
  (nth) =>
    ({
      gross: quarterColumn("gross", nth),
      charges: quarterColumn("charges", nth),
      refunds: quarterColumn("refunds", nth),
    }) satisfies Readonly<Record<keyof typeof CHARGE_SUMS, string>>,
);
type QuarterColumn = ReturnType<typeof quarterColumn<keyof typeof CHARGE_SUMS>>;
/** SQL: the columns of all quarters, by their names. */
export const STORED_QUARTERS = Object.fromEntries(
  QUARTER_SUMS.flatMap((columns) => Object.values(columns)).map((column) => [column, column]),
) as Readonly<Record<QuarterColumn, string>>;

/** The numbers of the six hours of a day, as SQL. */
export const PARTS = QUARTERS.join(", ");

/** The number of the six hours of its day that an instant (epoch ms) lies in: 0 to 3. */
export function sixHoursOf(at: number): number {
  return (startOf(at, "PT6H") - startOf(at, "P1D")) / (QUARTER_LENGTHS.day * MINUTE);
}
