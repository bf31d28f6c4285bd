/**
 * Comparing and changing the increments of the provider as a whole. They hold what is covered of their time, also of
 * that which the watermark cuts, of charges alone.
 */
import type { Knex } from "knex";
import {
  EARLIEST,
  FIRST_INSTANT,
  fromDatetime,
  toBoundary,
  toDatetime,
} from "../../db/datetime.ts";
import { millisecondsOf } from "../../db/sql-time.ts";
import { chargeCovered, TABLES } from "../coverage.ts";
import { LENGTHS, PARTS, sixHoursOf, stretchOf } from "../increments.ts";
import { type Leaf, QUARTER } from "../leaves.ts";
import { sumsOf } from "../stored-sums.ts";
import { CHARGE_NAMES, FORMAT, NO_SUMS, plus, type Sums, sumIf, textOf } from "../sums.ts";
import { byLeaf } from "./ledger.ts";
import { INCREMENTS, type Rollup, STORED } from "./state.ts";

/** What a stretch of time should have, and its increment lacks; negative if it has more. */
export interface IncrementDifference extends Sums {
  /** In minutes. */
  readonly length: number;
  /** Its start, in epoch ms. */
  readonly start: number;
}

/** What follows FROM for the increments of quarter hours. */
const QUARTERS = `${INCREMENTS} AND length = ${LENGTHS.quarter} AND part IN (${PARTS})`;

/** What follows FROM for those of another length. */
const longer = (length: number) => `${INCREMENTS} AND length = ${length} AND part = 0`;

const SUMMED = CHARGE_NAMES.map((name) => `SUM(${name}) AS ${name}`).join(", ");
const DIFFERS = CHARGE_NAMES.map((name) => `SUM(${name}) <> 0`).join(" OR ");
const NEGATIVE = CHARGE_NAMES.map((name) => `-${name} AS ${name}`).join(", ");

interface QuarterRow {
  readonly quarter: string | number;
}
interface StretchRow {
  readonly at: string;
}

/** SQL: the same for all increments in one stretch of a length. */
const byStretch = (length: number) =>
  length === LENGTHS.month ? "EXTRACT(YEAR_MONTH FROM at)" : `TO_SECONDS(at) DIV ${length * 60}`;

/**
 * Compares the quarter hours of some stretches of time with the ledger, in the database: it sends the differences
 * alone.
 */
export async function compareQuarters(
  reader: Knex.Transaction,
  { provider, slot }: Rollup,
  stretches: readonly Leaf[],
  until: string,
): Promise<IncrementDifference[]> {
  const columns = CHARGE_NAMES.map((name) => `${sumIf(name)} AS ${name}`);
  const branches = stretches.flatMap(({ from, to }) => {
    // Charges that are dated before the first instant count as dated at it.
    const after = from === FIRST_INSTANT ? "" : "AND charged_at >= ?";
    const start = from === FIRST_INSTANT ? [] : [from];
    const ofLedger = `SELECT MIN(charged_at) AS at, ${columns.join(", ")} FROM charges
      WHERE provider_id = ? ${after} AND charged_at < ? AND ${chargeCovered("?")}
      GROUP BY ${byLeaf("charged_at", QUARTER.length)}`;
    return [
      { sql: ofLedger, bindings: [provider, ...start, to, until, until] },
      {
        sql: `SELECT at, ${NEGATIVE} FROM ${QUARTERS} AND at >= ? AND at < ?`,
        bindings: [provider, slot, from, to],
      },
    ];
  });
  const [rows] = await reader.raw(
    `SELECT quarter, ${SUMMED}
     FROM (SELECT ${millisecondsOf("at")} DIV ${QUARTER.ms} AS quarter, ${CHARGE_NAMES.join(", ")}
       FROM (${branches.map(({ sql }) => sql).join(" UNION ALL ")}) AS parts) AS quarters
     GROUP BY quarter HAVING ${DIFFERS} ORDER BY quarter`,
    branches.flatMap(({ bindings }) => bindings),
  );
  return rows.map(({ quarter, ...row }: QuarterRow) => ({
    length: LENGTHS.quarter,
    start: EARLIEST + Number(quarter) * QUARTER.ms,
    ...sumsOf(row),
  }));
}

/**
 * Compares the six hours, the days and the months that overlap a stretch of time with the quarter hours that are stored
 * of them: what makes them add up again.
 */
export async function compareIncrements(
  reader: Knex.Transaction,
  { provider, slot }: Rollup,
  { from, to }: Leaf,
): Promise<IncrementDifference[]> {
  const found: IncrementDifference[] = [];
  for (const length of [LENGTHS.sixHours, LENGTHS.day, LENGTHS.month]) {
    const [first] = stretchOf(fromDatetime(from), length);
    const [, end] = stretchOf(fromDatetime(to) - 1, length);
    const range = [toDatetime(first), toBoundary(end)];
    const [rows] = await reader.raw(
      `SELECT MIN(at) AS at, ${SUMMED} FROM (
         SELECT at, ${CHARGE_NAMES.join(", ")} FROM ${QUARTERS} AND at >= ? AND at < ?
         UNION ALL SELECT at, ${NEGATIVE} FROM ${longer(length)} AND at >= ? AND at < ?) AS parts
       GROUP BY ${byStretch(length)} HAVING ${DIFFERS} ORDER BY at`,
      [provider, slot, ...range, provider, slot, ...range],
    );
    for (const { at, ...row } of rows as StretchRow[]) {
      found.push({ length, start: stretchOf(fromDatetime(at), length)[0], ...sumsOf(row) });
    }
  }
  return found;
}

/**
 * What differences of quarter hours, and others, come to for each increment: none that is zero. Those of a length are
 * added up of those of the one before.
 */
export function incrementsOf(
  quarters: readonly IncrementDifference[],
  others: readonly IncrementDifference[],
): IncrementDifference[] {
  const { quarter: _, ...longer } = LENGTHS;
  const all = [quarters];
  for (const length of Object.values(longer)) {
    const parts = all.at(-1) ?? [];
    const moved = parts.map((part) => ({
      ...part,
      length,
      start: stretchOf(part.start, length)[0],
    }));
    all.push(addedUp(moved));
  }
  const found = others.length === 0 ? all.flat() : addedUp([...all.flat(), ...others]);
  return found.filter((each) => CHARGE_NAMES.some((name) => each[name] !== 0n));
}

/** Adds up those of the same increment. */
function addedUp(differences: readonly IncrementDifference[]): IncrementDifference[] {
  // Starts are whole quarter hours, so no two of another length come to the same.
  const same = Map.groupBy(differences, ({ length, start }) => start + length);
  return [...same.values()].map((parts) => {
    const { length, start } = parts[0] as IncrementDifference;
    return { ...parts.reduce<Sums>(plus, NO_SUMS), length, start };
  });
}

/** The number of rows in one INSERT. */
const ROWS_PER_INSERT = 500;

/** SQL: adds to what is there already. */
const ADD = CHARGE_NAMES.map((name) => `${name} = ${TABLES.increments}.${name} + VALUES(${name})`);

/** Adds differences to their rows. */
export async function addToIncrements(
  transaction: Knex.Transaction,
  { provider, slot }: Rollup,
  differences: readonly IncrementDifference[],
): Promise<void> {
  const columns = ["provider_id", "format", "slot", "length", "part", "at", ...CHARGE_NAMES];
  const sums = CHARGE_NAMES.map(() => "?").join(", ");
  for (let start = 0; start < differences.length; start += ROWS_PER_INSERT) {
    const some = differences.slice(start, start + ROWS_PER_INSERT);
    const rows = some.map(({ length, start: at }) => {
      const part = length === LENGTHS.quarter ? sixHoursOf(at) : 0;
      // What is bound costs the command most of a build.
      return `(?, ${FORMAT}, ${slot}, ${length}, ${part}, ?, ${sums})`;
    });
    await transaction.raw(
      `INSERT INTO ${TABLES.increments} (${columns.join(", ")})
       VALUES ${rows.join(", ")} ON DUPLICATE KEY UPDATE ${ADD.join(", ")}`,
      some.flatMap((each) => [
        provider,
        toDatetime(each.start),
        ...CHARGE_NAMES.map((name) => textOf(name, each[name])),
      ]),
    );
  }
}

/** Whether the days together have other charges than the provider as a whole at the last boundary. */
export async function daysDiffer(
  reader: Knex.Transaction,
  { provider, slot }: Rollup,
): Promise<boolean> {
  const columns = CHARGE_NAMES.map((name) => `COALESCE(SUM(${name}), 0) AS ${name}`).join(", ");
  const [[{ different }]] = await reader.raw(
    `SELECT COUNT(*) AS different FROM (
       SELECT ${columns} FROM ${STORED} AND total = 1 AND server_id = 0 AND instance_id = 0
         AND at = (SELECT MAX(at) FROM ${STORED} AND total = 1)
       UNION SELECT ${columns} FROM ${longer(LENGTHS.day)}) AS sums`,
    [provider, slot, provider, slot, provider, slot],
  );
  return Number(different) > 1;
}
