/**
 * Runs that fail if one provider does, give every provider with a row a rollup, and check all of each: what they write depends neither on how
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
export async function rollUp(database: Knex, options: RollupOptions): Promise<RollupResult> {
  const result = await rollUpLarge(database, { minRows: 1, checkPeriod: 0, ...options });
  if (result.failure) throw result.failure;
  return result;
}

/** The same. Resolves to what was repaired, each in the words of the log. */
export async function repairsOf(
  database: Knex,
  options: Partial<RollupOptions> = {},
): Promise<string[]> {
  const repairs: string[] = [];
  await rollUp(database, {
    margin: 0,
    report: ({ repair }) => repair && repairs.push(`provider ${repair.provider}, ${repair.what}`),
    ...options,
  });
  return repairs;
}
