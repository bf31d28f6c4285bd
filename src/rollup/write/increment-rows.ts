/**
 * The rows of increments: that of a stretch of time, or the one that has it as one of its quarters.
 */
import { EARLIEST, toBoundary, toDatetime } from "../../db/datetime.ts";
import { TABLES } from "../coverage.ts";
import {
  LENGTHS,
  MINUTE,
  PARTS,
  QUARTER_LENGTHS,
  QUARTERS,
  quarterColumn,
  sixHoursOf,
  stretchOf,
} from "../increments.ts";
import { CHARGE_NAMES, FORMAT, type SumName, type Sums, textOf, zero } from "../sums.ts";
import type { Branch } from "./covered-rows.ts";
import { INCREMENTS, type Rollup } from "./state.ts";

/** What a stretch of time should have, and its increment lacks; negative if it has more. */
export interface IncrementDifference extends Sums {
  /** In minutes: of those that have a row, or of their quarters. */
  readonly length: number;
  /** Its start, in epoch ms. */
  readonly start: number;
}

/** What follows FROM for the rows of a length. */
export const rowsOf = (length: number) =>
  `${INCREMENTS} AND length = ${length} AND part ${length === LENGTHS.hour ? `IN (${PARTS})` : "= 0"}`;

/** The length of the row that has a stretch as one of its quarters; undefined if it has a row of its own. */
function lengthOfRow(length: number): number | undefined {
  return Object.values(QUARTER_LENGTHS).includes(length) ? 4 * length : undefined;
}

/** SQL: the start of each stretch of a length in some spans (epoch ms), and the negative of what is stored of it. */
export function negativeOf(
  { provider, slot }: Rollup,
  length: number,
  spans: readonly (readonly [from: number, to: number])[],
): Branch[] {
  const row = lengthOfRow(length);
  const inSpans = spans.map(() => "at >= ? AND at < ?").join(" OR ");
  const branch = (later: number, column: (name: SumName) => string) => ({
    sql: `SELECT at + INTERVAL ${later} MINUTE AS at,
        ${CHARGE_NAMES.map((name) => `-${column(name)} AS ${name}`).join(", ")}
      FROM ${rowsOf(row ?? length)} AND (${inSpans})`,
    // A quarter lies in a span if its row lies in one that is earlier by as much.
    bindings: [provider, slot, ...spans.flat().map((at) => toBoundary(earlier(at, later)))],
  });
  if (row === undefined) return [branch(0, (name) => name)];
  return QUARTERS.map((nth) => branch(nth * length, (name) => quarterColumn(name, nth)));
}
const earlier = (at: number, minutes: number) => Math.max(at - minutes * MINUTE, EARLIEST);

/** The columns that place a row, and those of its sums, and of its quarters. */
const PLACE = ["provider_id", "format", "slot", "length", "part", "at"];
const QUARTER_COLUMNS = QUARTERS.flatMap((nth) =>
  CHARGE_NAMES.map((name) => quarterColumn(name, nth)),
);
export const COLUMNS = [...PLACE, ...CHARGE_NAMES, ...QUARTER_COLUMNS];

/** SQL: adds to what is there already. */
export const ADD = [
  ...CHARGE_NAMES.map((name) => `${name} = ${TABLES.increments}.${name} + VALUES(${name})`),
  ...QUARTER_COLUMNS.map((name) => {
    const [stored, added] = [`${TABLES.increments}.${name}`, `VALUES(${name})`];
    return `${name} = COALESCE(${stored} + ${added}, ${stored}, ${added})`;
  }),
];

/** What is added to a row, by its columns. */
type Added = Record<string, string | number>;

/** The rows that have the increments of some differences, by what is added to them. */
export function rowsFor(
  { provider, slot }: Rollup,
  differences: readonly IncrementDifference[],
): Added[] {
  const rows = new Map<string, Added>();
  for (const { length: own, start, ...sums } of differences) {
    const ofQuarter = lengthOfRow(own);
    const length = ofQuarter ?? own;
    const [at] = stretchOf(start, length);
    const row = rows.getOrInsertComputed(`${length} ${at}`, () => {
      const part = length === LENGTHS.hour ? sixHoursOf(at) : 0;
      const place = { provider_id: provider, format: FORMAT, slot, length, part };
      const nothing = CHARGE_NAMES.map((name) => [name, zero(name)]);
      return { ...place, at: toDatetime(at), ...Object.fromEntries(nothing) };
    });
    const nth = QUARTERS[(start - at) / (own * MINUTE)] ?? 0;
    for (const name of CHARGE_NAMES) {
      row[ofQuarter ? quarterColumn(name, nth) : name] = textOf(name, sums[name]);
    }
  }
  return [...rows.values()];
}
