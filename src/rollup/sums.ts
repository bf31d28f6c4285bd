/**
 * What a rollup sums. A further sum is an entry of `SUMS`, a column of the same name in `rollup_sums`,
 * and another `FORMAT`.
 */
import { formatCents } from "../db/cents.ts";

/**
 * The format of rollups that this program reads and writes. It changes with what `rollup_sums` holds:
 * one of another format is no rollup to the program, and is left to the programs that know it.
 */
export const FORMAT = 3;

/**
 * The sums by their names, which are also the columns of `rollup_sums`: the table whose rows are added
 * up, the column that places a row on the timeline, the SQL expression of what a row adds, whether that
 * is an amount of money or a count, and the words for it in messages.
 */
export const SUMS = {
  gross: { table: "charges", datedBy: "charged_at", adds: "gross", money: true, words: "of gross" },
  charges: { table: "charges", datedBy: "charged_at", adds: "1", money: false, words: "charges" },
  started: { table: "rentals", datedBy: "started_at", adds: "1", money: false, words: "starts" },
  ended: {
    table: "rentals",
    datedBy: "ended_at",
    adds: "1",
    money: false,
    words: "ends of rentals",
  },
} as const;

/** The name of a sum. */
export type SumName = keyof typeof SUMS;

/** The names of all sums, in the order of the columns. */
export const SUM_NAMES = Object.keys(SUMS) as SumName[];

/** The names of those that count rows. */
export const COUNT_NAMES = SUM_NAMES.filter((name) => !SUMS[name].money);

/** A value for each sum: cents, or a count. */
export type Sums = Readonly<Record<SumName, bigint>>;

/** Sums from a value for each. The names are written out: answers make thousands, four times as fast. */
export function sumsFrom(valueFor: (name: SumName) => bigint): Sums {
  return {
    gross: valueFor("gross"),
    charges: valueFor("charges"),
    started: valueFor("started"),
    ended: valueFor("ended"),
  };
}

/** Nothing. */
export const NO_SUMS: Sums = sumsFrom(() => 0n);

/** Adds two sums. */
export function plus(one: Sums, other: Sums): Sums {
  return sumsFrom((name) => one[name] + other[name]);
}

/** What one has more than another. */
export function minus(one: Sums, other: Sums): Sums {
  return sumsFrom((name) => one[name] - other[name]);
}

/** Whether all sums are zero. */
export function isZero(sums: Sums): boolean {
  return SUM_NAMES.every((name) => sums[name] === 0n);
}

/** The decimal text of a value: "12.50" of cents, "3" of a count. */
export function textOf(name: SumName, value: bigint): string {
  return SUMS[name].money ? formatCents(value) : String(value);
}

const list = new Intl.ListFormat("en-GB");

/** Sums in words: "12.50 of gross, 3 charges, 0 starts and 1 ends of rentals". */
export function formatSums(sums: Sums): string {
  return list.format(SUM_NAMES.map((name) => `${textOf(name, sums[name])} ${SUMS[name].words}`));
}

/** SQL: what the rows that match a condition add to a sum; all rows without one. */
export function sumIf(name: SumName, condition?: string): string {
  const { adds, money } = SUMS[name];
  if (condition !== undefined) {
    return `SUM(CASE WHEN ${condition} THEN ${adds} ELSE ${money ? "0.00" : "0"} END)`;
  }
  return adds === "1" ? "COUNT(*)" : `SUM(${adds})`;
}

/** SQL: the columns of `rollup_sums`, by the names of the sums. */
export const STORED_SUMS = Object.fromEntries(SUM_NAMES.map((name) => [name, name])) as Readonly<
  Record<SumName, string>
>;

/** A sum of charges. */
type ChargeSumName = {
  [Name in SumName]: (typeof SUMS)[Name]["table"] extends "charges" ? Name : never;
}[SumName];

/** SQL: the sums of some charges, by their names. */
export const CHARGE_SUMS = Object.fromEntries(
  SUM_NAMES.filter((name) => SUMS[name].table === "charges").map((name) => [name, sumIf(name)]),
) as Readonly<Record<ChargeSumName, string>>;
