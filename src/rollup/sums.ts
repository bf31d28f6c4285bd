/**
 * What a rollup sums. A further sum is an entry of `SUMS`, a column of the same name in `rollup_sums`,
 * and another `FORMAT`.
 */
import { formatCents, parseCents } from "../db/cents.ts";
import { millisecondsOf } from "../db/sql-time.ts";

/**
 * The format of rollups that this program reads and writes. It changes with what the tables of rollups hold, and
 * a test keeps a digest of that: one of another format is no rollup to the program, and is left to the
 * programs that know it.
 */
export const FORMAT = 6;

/** The units of sums: how the database stores them, and the text of none. */
const UNITS = {
  cents: { type: "DECIMAL(20,2)", zero: "0.00" },
  rows: { type: "SIGNED", zero: "0" },
  /** Those of a hundred million rentals do not fit into a BIGINT. */
  ms: { type: "DECIMAL(27,0)", zero: "0" },
} as const;

/**
 * The sums by their names, which are also the columns of `rollup_sums`: the table whose rows are added
 * up, the column that places a row on the timeline, the SQL expression of what a row adds, the unit of that,
 * and the words for it in messages.
 */
export const SUMS = {
  gross: {
    table: "charges",
    datedBy: "charged_at",
    adds: "gross",
    unit: "cents",
    words: "of gross",
  },
  charges: { table: "charges", datedBy: "charged_at", adds: "1", unit: "rows", words: "charges" },
  started: { table: "rentals", datedBy: "started_at", adds: "1", unit: "rows", words: "starts" },
  ended: {
    table: "rentals",
    datedBy: "ended_at",
    adds: "1",
    unit: "rows",
    words: "ends of rentals",
  },
  refunds: {
    table: "charges",
    datedBy: "charged_at",
    adds: "LEAST(gross, 0.00)",
    unit: "cents",
    words: "of refunds",
  },
  started_ms: {
    table: "rentals",
    datedBy: "started_at",
    adds: millisecondsOf("started_at"),
    unit: "ms",
    words: "ms of starts",
  },
  ended_ms: {
    table: "rentals",
    datedBy: "ended_at",
    adds: millisecondsOf("ended_at"),
    unit: "ms",
    words: "ms of ends",
  },
} as const;

/** The name of a sum. */
export type SumName = keyof typeof SUMS;

/** The names of all sums, in the order of the columns. */
export const SUM_NAMES = Object.keys(SUMS) as SumName[];

/** The names of those that count rows. */
export const COUNT_NAMES = SUM_NAMES.filter((name) => SUMS[name].unit === "rows");

/** The names of those of rentals. */
export const RENTAL_NAMES = SUM_NAMES.filter((name) => SUMS[name].table === "rentals");

/** The names of those of charges, which are columns of `rollup_increments`, too: each, and with the number of a quarter. */
export const CHARGE_NAMES = SUM_NAMES.filter(
  (name): name is NameOf<"charges"> => SUMS[name].table === "charges",
);
type NameOf<Table> = {
  [Name in SumName]: (typeof SUMS)[Name]["table"] extends Table ? Name : never;
}[SumName];

/** A value for each sum, in its unit. */
export type Sums = Readonly<Record<SumName, bigint>>;

/** Sums from a value for each. The names are written out: answers make thousands, four times as fast. */
export function sumsFrom(valueFor: (name: SumName) => bigint): Sums {
  return {
    gross: valueFor("gross"),
    charges: valueFor("charges"),
    started: valueFor("started"),
    ended: valueFor("ended"),
    refunds: valueFor("refunds"),
    started_ms: valueFor("started_ms"),
    ended_ms: valueFor("ended_ms"),
  };
}

/** Nothing. */
export const NO_SUMS: Sums = sumsFrom(() => 0n);

/** Adds two sums. */
export function plus(one: Sums, other: Sums): Sums {
  // Most owners of an answer have nothing to add.
  if (one === NO_SUMS) return other;
  if (other === NO_SUMS) return one;
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
  return SUMS[name].unit === "cents" ? formatCents(value) : String(value);
}

/** Parses the text of a value. */
export function parseSum(name: SumName, text: string): bigint {
  return SUMS[name].unit === "cents" ? parseCents(text) : BigInt(text);
}

/** SQL: the type of a sum, for `CAST`. */
export function typeOf(name: SumName): string {
  return UNITS[SUMS[name].unit].type;
}

/** SQL: a sum of nothing. */
export function zero(name: SumName): string {
  return UNITS[SUMS[name].unit].zero;
}

const list = new Intl.ListFormat("en-GB");

/** Sums in words, without those that are zero: "12.50 of gross, 3 charges and 1 ends of rentals". */
export function formatSums(sums: Sums): string {
  const names = SUM_NAMES.filter((name) => sums[name] !== 0n);
  const parts = names.map((name) => `${textOf(name, sums[name])} ${SUMS[name].words}`);
  return list.format(parts) || "nothing";
}

/** SQL: what rows add to a sum. */
export function sumOf(name: SumName): string {
  const { adds } = SUMS[name];
  return adds === "1" ? "COUNT(*)" : `SUM(${adds})`;
}

/** A column that places rows on the timeline. */
export type DatedBy = (typeof SUMS)[SumName]["datedBy"];

/** SQL expressions by the names of sums. */
const expressions = <Name extends SumName>(
  names: readonly Name[],
  expression: (name: Name) => string,
) =>
  Object.fromEntries(names.map((name) => [name, expression(name)])) as Readonly<
    Record<Name, string>
  >;

/** SQL: the columns of `rollup_sums`, by the names of the sums: of all, or of those of charges. */
export const STORED_SUMS = expressions(SUM_NAMES, (name) => name);
export const STORED_CHARGE_SUMS = expressions(CHARGE_NAMES, (name) => name);
/** SQL: the sums of charges, by their names. */
export const CHARGE_SUMS = expressions(CHARGE_NAMES, sumOf);
/** SQL: the same, of stored sums of several owners, days or hours. */
export const TOTAL_CHARGE_SUMS = expressions(CHARGE_NAMES, (name) => `SUM(${name})`);
export const TOTAL_STORED_SUMS = expressions(SUM_NAMES, (name) => `SUM(${name})`);
