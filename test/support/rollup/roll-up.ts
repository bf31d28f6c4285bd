/** Runs that give every provider with a row a rollup: what they write does not depend on how much there is. */
import type { Knex } from "knex";
import {
  type RollupOptions,
  type RollupResult,
  rollUp as rollUpLarge,
} from "../../../src/rollup/write/run.ts";

export type { RollupResult };

/** A run for ledgers of any size. */
export function rollUp(database: Knex, options: RollupOptions): Promise<RollupResult> {
  return rollUpLarge(database, { minRows: 1, ...options });
}
