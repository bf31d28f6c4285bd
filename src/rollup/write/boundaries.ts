/** The stored boundaries of a rollup. */

import type { Knex } from "knex";
import { FIRST_INSTANT } from "../../db/datetime.ts";
import { TABLES } from "../coverage.ts";
import { boundariesOfTotal, isBoundary, justBefore, leafAt, leafOfTotal } from "../leaves.ts";
import { FORMAT, SUM_NAMES } from "../sums.ts";
import type { Rollup } from "./state.ts";

/** The stored boundaries of a rollup, each list in order. */
export interface Boundaries {
  readonly owners: readonly string[];
  readonly totals: readonly string[];
  /** The number of owners at the last one: of rows that a further one has. */
  readonly width: number;
}

/** Reads the stored boundaries of a rollup. */
export async function readBoundaries(
  reader: Knex.Transaction,
  { provider, slot }: Rollup,
): Promise<Boundaries> {
  const [rows] = await reader.raw(
    // With all columns of the index up to `at`, the server skips from one boundary to the next.
    `SELECT DISTINCT provider_id, format, slot, total, at FROM ${TABLES.sums}
     WHERE provider_id = ? AND format = ${FORMAT} AND slot = ? ORDER BY total, at`,
    [provider, slot],
  );
  const of = (wanted: number): string[] =>
    rows
      .filter((row: BoundaryRow) => Number(row.total) === wanted)
      .map(({ at }: BoundaryRow) => at);
  const owners = of(0);
  const [[{ width }]] = await reader.raw(
    `SELECT COUNT(*) AS width FROM ${TABLES.sums}
     WHERE provider_id = ? AND format = ${FORMAT} AND slot = ? AND total = 0 AND at = ?`,
    [provider, slot, owners.at(-1) ?? FIRST_INSTANT],
  );
  return { owners, totals: of(1), width: Number(width) };
}

/**
 * What is wrong with the stored boundaries, so that no run can have stored them: one where no leaf ends; or
 * the end of a day or a month of the provider as a whole is missing, although a leaf of it is there.
 */
export function misplacedBoundary(
  { owners, totals }: Boundaries,
  { leaf }: Rollup,
): string | undefined {
  const total = leafOfTotal(leaf);
  const misplaced =
    owners.find((at) => !isBoundary(at, leaf)) ?? totals.find((at) => !isBoundary(at, total));
  if (misplaced !== undefined) return `has sums at ${misplaced}, where no leaf ends`;
  const stored = new Set(totals);
  let known = FIRST_INSTANT;
  for (const at of totals) {
    if (at <= known) continue;
    const [, ...ends] = boundariesOfTotal(leafAt(justBefore(at).from, total));
    const missing = ends.find((end) => !stored.has(end));
    if (missing !== undefined) return `lacks the sums at ${missing}, the end of a day or a month`;
    known = ends[0] ?? at;
  }
  return undefined;
}

interface BoundaryRow {
  readonly total: string | number;
  readonly at: string;
}

/**
 * Whether the sums of all owners differ from those of the provider as a whole, for everything covered. A
 * change writes both, so rows were changed or lost.
 */
export async function isDamaged(
  reader: Knex.Transaction,
  { provider, slot }: Rollup,
  { owners, totals }: Boundaries,
): Promise<boolean> {
  const columns = SUM_NAMES.map((name) => `COALESCE(SUM(${name}), 0) AS ${name}`);
  const branch = `SELECT ${columns.join(", ")} FROM ${TABLES.sums}
    WHERE provider_id = ? AND format = ${FORMAT} AND slot = ? AND total = ? AND at = ?`;
  const [rows] = await reader.raw(
    `SELECT COUNT(*) AS different FROM (${branch} UNION ${branch}) AS sums`,
    [owners, totals].flatMap((stored, total) => [
      provider,
      slot,
      total,
      stored.at(-1) ?? FIRST_INSTANT,
    ]),
  );
  return Number(rows[0].different) > 1;
}
