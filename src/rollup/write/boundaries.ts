/** The stored boundaries of a rollup. */

import type { Knex } from "knex";
import { DAY, FIRST_INSTANT, fromDatetime } from "../../db/datetime.ts";
import {
  areLengths,
  boundariesOfDay,
  isBoundary,
  justBefore,
  type Leaf,
  leafAt,
  leafOfTotal,
  spanOfTotal,
} from "../leaves.ts";
import { SUM_NAMES } from "../sums.ts";
import { type Rollup, STORED } from "./state.ts";

/** The stored boundaries of the owners of a rollup, in order: all, or those of a part of the timeline. */
export interface Boundaries {
  /** Those from an event time on, and the last one before it. */
  readonly owners: readonly string[];
  /** The number of owners at the last one: of rows that a further one has. */
  readonly width: number;
}

/** The stored boundaries that a change may add to: beside those of owners, some of the provider as a whole, in order. */
export interface Stored extends Boundaries {
  /** Those of a part of the timeline, and the last one before it. */
  readonly totals: readonly string[];
  /** That part: whole days. */
  readonly from: string;
  readonly to: string;
  /** The number of those after it. */
  readonly later: number;
}

/**
 * Reads the stored boundaries of the owners of a rollup from an event time on, and the last one before it. There is one
 * for each leaf with rows, so a build that read all of them in each step would take ever longer steps.
 */
export async function readBoundaries(
  reader: Knex.Transaction,
  { provider, slot }: Rollup,
  from: string = FIRST_INSTANT,
): Promise<Boundaries> {
  const [rows] = await reader.raw(
    // Grouped by all columns of the index up to `at`, the server can skip from one boundary to the next. It does once
    // its statistics say that boundaries have many rows: those of a table that is being filled do not, nor those of
    // providers with quarter hours.
    `SELECT provider_id, format, slot, total, at FROM ${STORED} AND total = 0
       AND at >= COALESCE((SELECT MAX(at) FROM ${STORED} AND total = 0 AND at < ?), ?)
     GROUP BY provider_id, format, slot, total, at ORDER BY provider_id, format, slot, total, at`,
    [provider, slot, provider, slot, from, from],
  );
  const owners: string[] = rows.map(({ at }: BoundaryRow) => at);
  const [[{ width }]] = await reader.raw(
    `SELECT COUNT(*) AS width FROM ${STORED} AND total = 0 AND at = ?`,
    [provider, slot, owners.at(-1) ?? FIRST_INSTANT],
  );
  return { owners, width: Number(width) };
}

/** Reads those of the provider as a whole near some stretches of time, and adds them to the given ones of owners. */
export async function readStored(
  reader: Knex.Transaction,
  { provider, slot, totalLeaf }: Rollup,
  boundaries: Boundaries,
  stretches: readonly Leaf[],
): Promise<Stored> {
  const { from, to } = spanOfTotal(stretches, totalLeaf);
  const before = `(SELECT MAX(at) FROM ${STORED} AND total = 1 AND at < ?)`;
  const [rows] = await reader.raw(
    `SELECT at FROM ${STORED} AND total = 1 AND at >= COALESCE(${before}, ?) AND at <= ? ORDER BY at`,
    [provider, slot, provider, slot, from, from, to],
  );
  const [[{ later }]] = await reader.raw(
    `SELECT COUNT(*) AS later FROM ${STORED} AND total = 1 AND at > ?`,
    [provider, slot, to],
  );
  const totals = rows.map(({ at }: BoundaryRow) => at);
  return { ...boundaries, totals, from, to, later: Number(later) };
}

/**
 * What is wrong with stored boundaries, so that no run can have stored them: one where no leaf ends; or the end of a
 * day or a month of the provider as a whole is missing, or a quarter hour of a day that has others.
 */
export function misplacedBoundary(
  { owners, totals, from }: Stored,
  rollup: Rollup,
): string | undefined {
  const length = leafOfTotal(rollup);
  const misplaced =
    owners.find((at) => !isBoundary(at, rollup.leaf)) ??
    totals.find((at) => !isBoundary(at, length));
  if (misplaced !== undefined) return `has sums at ${misplaced}, where no leaf ends`;
  const stored = new Set(totals);
  // One at the start of the part belongs to the day before it.
  const inside = totals.filter((at) => at > from);
  const days = Map.groupBy(inside, (at) => leafAt(justBefore(at).from, "P1D").to);
  for (const [day, boundaries] of days) {
    const month = leafAt(justBefore(day).from, "P1M");
    // The end of a month is stored for any row of it.
    if (boundaries.length === 1 && boundaries[0] === month.to) continue;
    const needed = [...boundariesOfDay(day, rollup.totalLeaf)];
    // The first days of a month may have their quarter hours from rows of the month before.
    const hasRows =
      rollup.totalLeaf === "P1D" || fromDatetime(day) - fromDatetime(month.from) > 2 * DAY;
    if (hasRows) needed.push(month.to);
    const missing = needed.find((at) => !stored.has(at));
    if (missing !== undefined) return `lacks the sums at ${missing}`;
  }
  return undefined;
}

interface BoundaryRow {
  readonly at: string;
}

/**
 * Whether rows were changed or lost: its leaves have a length that there is not, or the sums of all owners differ from
 * those of the provider as a whole, for everything covered. A change writes both.
 */
export async function isDamaged(reader: Knex.Transaction, rollup: Rollup): Promise<boolean> {
  if (!areLengths(rollup)) return true;
  const { provider, slot } = rollup;
  const columns = SUM_NAMES.map((name) => `COALESCE(SUM(${name}), 0) AS ${name}`);
  const ofAll = [0, 1].map((total) => {
    const stored = `FROM ${STORED} AND total = ${total}`;
    return `SELECT ${columns.join(", ")} ${stored} AND at = (SELECT MAX(at) ${stored})`;
  });
  const [rows] = await reader.raw(
    `SELECT COUNT(*) AS different FROM (${ofAll.join(" UNION ")}) AS sums`,
    ofAll.flatMap(() => [provider, slot, provider, slot]),
  );
  return Number(rows[0].different) > 1;
}
