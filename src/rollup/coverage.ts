/**
 * Which rows of the ledger a rollup covers. The write side adds up exactly these rows, and the
 * read side queries all other rows, so both take the conditions from here.
 *
 * A rollup covers the rows up to its watermark, an instant of recording time:
 *
 * - a charge, if it was recorded (`recorded_at`) at or before the watermark;
 * - a rental, if it was last written (`updated_at`) and ended (`ended_at`) at or before the
 *   watermark. A rental whose end lies after the watermark may still be extended, shortened or
 *   reopened. A rental that ended before it started never ran and is not counted at all.
 *   The rollup lists the rentals that it holds. A rental in this list stays covered if it is
 *   written again with the same end.
 *
 * The formulas and the invariants are in docs/rollups.md.
 */

import { TABLES } from "./tables.ts";

/** A rollup: its generation and its watermark. */
export interface RollupState {
  /** Increases with each build; `NO_GENERATION` if the provider has no rollup. */
  readonly generation: string;
  /** Recording time, as DATETIME(3) text in UTC. Stored in the column `rollups.cut`. */
  readonly watermark: string;
}

/** The rollup that an answer used. What it holds changes only with one of the first three fields. */
export interface UsedRollup extends RollupState {
  /** Increases with each change of the generation's totals. */
  readonly revision: string;
  /**
   * A stored watermark that lies ahead of the database's clock, "" if it does not. It cannot be
   * true, so the answer used no rollup.
   */
  readonly ahead: string;
}

/** The generation of a provider without a rollup. */
export const NO_GENERATION = "0";

/** The watermark of a provider without a rollup: before every recording. */
export const NO_WATERMARK = "1000-01-01 00:00:00.000";

/** The tables of the ledger that rollups add up. */
export const LEDGER_TABLES = ["charges", "rentals"] as const;
export type LedgerTable = (typeof LEDGER_TABLES)[number];

/** The columns that must not exceed the watermark for a row to be covered. */
export const COVERED_BY: Readonly<Record<LedgerTable, readonly string[]>> = {
  charges: ["recorded_at"],
  rentals: ["updated_at", "ended_at"],
};

/** The columns that place a row on the timeline: a rental counts at its start and at its end. */
export const DATED_BY: Readonly<Record<LedgerTable, readonly string[]>> = {
  charges: ["charged_at"],
  rentals: ["started_at", "ended_at"],
};

/** SQL condition: the rental has ended, and it ran. */
export const RENTAL_RAN = "ended_at >= started_at";

/** SQL condition: the charge is covered. `watermark` is an SQL expression. */
export function chargeCovered(watermark: string): string {
  return `recorded_at <= ${watermark}`;
}

/**
 * SQL condition: the rental is covered. `watermark` is an SQL expression, used twice, and
 * `generation` is one.
 */
export function rentalCovered(watermark: string, generation: string): string {
  const written = `(updated_at <= ${watermark} OR ${rentalHeld(generation)})`;
  return `${RENTAL_RAN} AND ended_at <= ${watermark} AND ${written}`;
}

/** SQL condition: the rental is covered, and was not written since. */
export function rentalUnchanged(watermark: string): string {
  return `${RENTAL_RAN} AND updated_at <= ${watermark} AND ended_at <= ${watermark}`;
}

/**
 * SQL condition: the rollup holds the row of `rentals`, with this end. A scalar subquery is neither
 * turned into a join nor materialized, so it costs nothing for rows that need not be looked up.
 */
export function rentalHeld(generation: string): string {
  return `((SELECT COUNT(*) FROM ${TABLES.rentals} AS held
    WHERE held.provider_id = rentals.provider_id AND held.generation = ${generation}
      AND held.ended_at = rentals.ended_at AND held.rental_id = rentals.id) > 0)`;
}
