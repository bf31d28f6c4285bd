/** The stored boundaries of a rollup, and whether the sums at them contradict each other. */

import type { Knex } from "knex";
import { FIRST_INSTANT } from "../../db/datetime.ts";
import { isBoundary, isLength, type Leaf } from "../leaves.ts";
import { type SumsRow, sumsOf } from "../stored-sums.ts";
import { isZero, NO_SUMS, SUM_NAMES, type Sums } from "../sums.ts";
import { type Rollup, STORED } from "./state.ts";

/** The stored boundaries of a rollup, in order: all, or those of a part of the timeline. */
export interface Boundaries {
  /** Those from an event time on, and the last one before it. */
  readonly stored: readonly string[];
  /** The number of owners at the last one: of rows that a further one has. */
  readonly width: number;
}

/**
 * Reads the stored boundaries of a rollup from an event time on, and the last one before it. There is one
 * for each leaf with rows, so a build that read all of them in each step would take ever longer steps.
 */
export async function readBoundaries(
  reader: Knex.Transaction,
  { provider, slot }: Rollup,
  from: string = FIRST_INSTANT,
): Promise<Boundaries> {
  const [rows] = await reader.raw(
    // Grouped by all columns of the index up to `at`, the server can skip from one boundary to the next. It does once
    // its statistics say that boundaries have many rows: those of a table that is being filled do not.
    `SELECT provider_id, format, slot, total, at FROM ${STORED} AND total = 0
       AND at >= COALESCE((SELECT MAX(at) FROM ${STORED} AND total = 0 AND at < ?), ?)
     GROUP BY provider_id, format, slot, total, at ORDER BY provider_id, format, slot, total, at`,
    [provider, slot, provider, slot, from, from],
  );
  const stored: string[] = rows.map(({ at }: BoundaryRow) => at);
  const [[{ width }]] = await reader.raw(
    `SELECT COUNT(*) AS width FROM ${STORED} AND total = 0 AND at = ?`,
    [provider, slot, stored.at(-1) ?? FIRST_INSTANT],
  );
  return { stored, width: Number(width) };
}

interface BoundaryRow {
  readonly at: string;
}

/** What the provider as a whole should have at a boundary, and its row lacks; negative if it has more. */
export interface TotalDifference extends Sums {
  readonly at: string;
}

/** The sums of owners are those of the provider as a whole: what makes them so at the boundaries of a stretch of time. */
export async function compareTotals(
  reader: Knex.Transaction,
  { provider, slot }: Rollup,
  { from, to }: Leaf,
): Promise<readonly TotalDifference[] | "misplaced"> {
  const isTotal = "total = 1 AND server_id = 0 AND instance_id = 0";
  const columns = SUM_NAMES.map(
    (name) => `SUM(CASE WHEN total = 0 THEN ${name} WHEN ${isTotal} THEN -${name} END) AS ${name}`,
  );
  const differs = SUM_NAMES.map((name) => `${name} <> 0`);
  const [rows] = await reader.raw(
    `SELECT * FROM (
       SELECT at, MIN(total) AS least, MAX(total = 1 AND NOT (${isTotal})) AS other, ${columns.join(", ")}
       FROM ${STORED} AND total IN (0, 1) AND at > ? AND at <= ? GROUP BY at) AS boundaries
     WHERE least = 1 OR other = 1 OR ${differs.join(" OR ")} ORDER BY at`,
    [provider, slot, from, to],
  );
  // Of no owner, or the row of one that is not the whole.
  if (rows.some((row: TotalRow) => Number(row.least) === 1 || Number(row.other) === 1)) {
    return "misplaced";
  }
  return rows.map((row: TotalRow) => ({ at: row.at, ...sumsOf(row) }));
}

interface TotalRow extends SumsRow {
  readonly at: string;
  readonly least: string | number;
  readonly other: string | number;
}

/** Whether sums are stored where no leaf ends. */
export function areMisplaced({ stored }: Boundaries, { leaf }: Rollup): boolean {
  return stored.some((at) => !isBoundary(at, leaf));
}

/**
 * What the owners together have more than the provider as a whole, of everything covered, if rows were changed or
 * lost: a change writes both. Nothing, if its leaves have a length that there is not; undefined if all is well.
 */
export async function findDamage(
  reader: Knex.Transaction,
  { provider, slot, leaf }: Rollup,
): Promise<Sums | undefined> {
  if (!isLength(leaf)) return NO_SUMS;
  const last = (total: number, sign: string) => `
    SELECT ${SUM_NAMES.map((name) => `${sign}SUM(${name}) AS ${name}`).join(", ")}
    FROM ${STORED} AND total = ${total} AND at = (SELECT MAX(at) FROM ${STORED} AND total = ${total})`;
  const columns = SUM_NAMES.map((name) => `COALESCE(SUM(${name}), 0) AS ${name}`);
  const [[row]] = await reader.raw(
    `SELECT ${columns.join(", ")} FROM (${last(0, "")} UNION ALL ${last(1, "-")}) AS sums`,
    [provider, slot, provider, slot, provider, slot, provider, slot],
  );
  const sums = sumsOf(row);
  return isZero(sums) ? undefined : sums;
}
