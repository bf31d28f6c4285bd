/**
 * Runs that give every provider with a row a rollup, and check all of each: what they write depends neither on how
 * much there is nor on when it was checked.
 */
import type { Knex } from "knex";
import {
  type RollupOptions,
  type RollupResult,
  rollUp as rollUpLarge,
} from "../../../src/rollup/write/run.ts";

export type { RollupResult };

/** A run for ledgers of any size, in which every slice is due. */
export function rollUp(database: Knex, options: RollupOptions): Promise<RollupResult> {
  return rollUpLarge(database, { minRows: 1, checkPeriod: 0, ...options });
}
