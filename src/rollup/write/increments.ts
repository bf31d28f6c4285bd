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
import { LENGTHS, QUARTER_LENGTHS, QUARTERS, quarterColumn, stretchOf } from "../increments.ts";
import { type Leaf, QUARTER } from "../leaves.ts";
import { sumsOf } from "../stored-sums.ts";
import { CHARGE_NAMES, NO_SUMS, plus, type Sums, sumIf } from "../sums.ts";
import type { Branch } from "./covered-rows.ts";
import {
  ADD,
  COLUMNS,
  type IncrementDifference,
  negativeOf,
  rowsFor,
  rowsOf,
} from "./increment-rows.ts";
import { byLeaf } from "./ledger.ts";
import { type Rollup, STORED } from "./state.ts";

export type { IncrementDifference };

const QUARTER_HOUR = QUARTER_LENGTHS.hour;
/** The lengths that quarter hours make, each of whole ones of the length before. */
const LONGER = [LENGTHS.hour, QUARTER_LENGTHS.day, LENGTHS.day, LENGTHS.month];

const SUMMED = CHARGE_NAMES.map((name) => `SUM(${name}) AS ${name}`).join(", ");
const DIFFERS = CHARGE_NAMES.map((name) => `SUM(${name}) <> 0`).join(" OR ");
/** The quarter hours of an hour, added up. */
const OF_QUARTERS = CHARGE_NAMES.map((name) => {
  const columns = QUARTERS.map((nth) => `COALESCE(${quarterColumn(name, nth)}, 0)`);
  return `${columns.join(" + ")} AS ${name}`;
}).join(", ");

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
  rollup: Rollup,
  stretches: readonly Leaf[],
  until: string,
): Promise<IncrementDifference[]> {
  const columns = CHARGE_NAMES.map((name) => `${sumIf(name)} AS ${name}`);
  const ofLedger = stretches.map(({ from, to }): Branch => {
    // Charges that are dated before the first instant count as dated at it.
    const after = from === FIRST_INSTANT ? "" : "AND charged_at >= ?";
    const start = from === FIRST_INSTANT ? [] : [from];
    return {
      sql: `SELECT MIN(charged_at) AS at, ${columns.join(", ")} FROM charges
        WHERE provider_id = ? ${after} AND charged_at < ? AND ${chargeCovered("?")}
        GROUP BY ${byLeaf("charged_at", QUARTER.length)}`,
      bindings: [rollup.provider, ...start, to, until, until],
    };
  });
  const spans = stretches.map(({ from, to }) => [fromDatetime(from), fromDatetime(to)] as const);
  const branches = [...ofLedger, ...negativeOf(rollup, QUARTER_HOUR, spans)];
  const [rows] = await reader.raw(
    `SELECT quarter, ${SUMMED}
     FROM (SELECT ${millisecondsOf("at")} DIV ${QUARTER.ms} AS quarter, ${CHARGE_NAMES.join(", ")}
       FROM (${branches.map(({ sql }) => sql).join(" UNION ALL ")}) AS parts) AS quarters
     GROUP BY quarter HAVING ${DIFFERS} ORDER BY quarter`,
    branches.flatMap(({ bindings }) => bindings),
  );
  return rows.map(({ quarter, ...row }: QuarterRow) => ({
    length: QUARTER_HOUR,
    start: EARLIEST + Number(quarter) * QUARTER.ms,
    ...sumsOf(row),
  }));
}

/**
 * Compares the hours, the six hours, the days and the months that overlap a stretch of time with the quarter hours that
 * are stored of them: what makes them add up again.
 */
export async function compareIncrements(
  reader: Knex.Transaction,
  rollup: Rollup,
  { from, to }: Leaf,
): Promise<IncrementDifference[]> {
  const found: IncrementDifference[] = [];
  for (const length of LONGER) {
    const [first] = stretchOf(fromDatetime(from), length);
    const [, end] = stretchOf(fromDatetime(to) - 1, length);
    const quarters = `SELECT at, ${OF_QUARTERS} FROM ${rowsOf(LENGTHS.hour)} AND at >= ? AND at < ?`;
    const stored = negativeOf(rollup, length, [[first, end]]);
    const [rows] = await reader.raw(
      `SELECT MIN(at) AS at, ${SUMMED} FROM (
         ${[quarters, ...stored.map(({ sql }) => sql)].join(" UNION ALL ")}) AS parts
       GROUP BY ${byStretch(length)} HAVING ${DIFFERS} ORDER BY at`,
      [
        ...[rollup.provider, rollup.slot, toDatetime(first), toBoundary(end)],
        ...stored.flatMap(({ bindings }) => bindings),
      ],
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
  const all = [quarters];
  for (const length of LONGER) {
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

/** Adds differences to their rows. */
export async function addToIncrements(
  transaction: Knex.Transaction,
  rollup: Rollup,
  differences: readonly IncrementDifference[],
): Promise<void> {
  const rows = rowsFor(rollup, differences);
  for (let start = 0; start < rows.length; start += ROWS_PER_INSERT) {
    const some = rows.slice(start, start + ROWS_PER_INSERT);
    const values = some.map((row) => COLUMNS.map((column) => row[column] ?? null));
    // What is bound costs the command most of a build: numbers and NULL are not.
    const isText = (value: string | number | null) => typeof value === "string";
    const sql = values.map((row) => {
      return `(${row.map((each) => (isText(each) ? "?" : (each ?? "NULL"))).join(", ")})`;
    });
    await transaction.raw(
      `INSERT INTO ${TABLES.increments} (${COLUMNS.join(", ")})
       VALUES ${sql.join(", ")} ON DUPLICATE KEY UPDATE ${ADD.join(", ")}`,
      values.flat().filter(isText),
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
       UNION SELECT ${columns} FROM ${rowsOf(LENGTHS.day)}) AS sums`,
    [provider, slot, provider, slot, provider, slot],
  );
  return Number(different) > 1;
}
